"""Tables and plots as text."""
