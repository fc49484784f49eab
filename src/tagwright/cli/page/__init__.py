"""Pages in HTML that need nothing but a browser: what `evaluate --report` and `inspect --support --html` write."""
