"""What all tests begin with."""

from checked_indices import count_from_the_front

count_from_the_front()
