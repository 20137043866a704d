"""Results for the eye: sentences, terminal text, one HTML page. Tables in, text out."""
