"""Hostile input by the million: files and calls that are changed at random, in processes that may die.

    python -m tests.fuzz [CAMPAIGN ...] [--cases 1000] [--seed 0] [--jobs 2]        make fuzz: hours
    python -m tests.fuzz CAMPAIGN --seed 0 --replay 17                               one case, with its traceback

    campaigns.py   what is tried: a name for each campaign
    mutations.py   how arrays, JSON, strings and bytes are changed
    processes.py   cases in processes: which ended in a crash, a hang, too much memory or an error that is not ours

A case is a number: with the seed, it decides everything. What was found becomes a test among the others (tests/).
"""
