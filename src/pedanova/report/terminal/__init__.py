"""Tables and plots made of letters."""
