"""Programs for python-crfsuite and sklearn-crfsuite, with the originals and with ours in their place.

packages.py    packages of PyPI that bring their own models: their output on many inputs, both ways
programs.py    what is run of each package; inputs.py: what it is run on
their_tests.py the own tests of both packages, with our modules
tutorial.py    the speed of sklearn-crfsuite's tutorial: training, tagging
"""
