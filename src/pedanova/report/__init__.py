"""Numbers become what people look at: terminal, page and figures."""
