"""What features="auto" means. Declared once, for learners and for --help; imports nothing."""

SPAN_PRESET = "ner"
"""Where labels are spans."""
USUAL_PRESET = "pos"
"""Where they are not, and the learner has no preset of its own."""
DEFAULT_PRESETS = {"guided": "e"}
"""Those of learners that have one."""
