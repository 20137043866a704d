"""Parameters and their domains, the grids that cut them into cells, and other tools' forms of both."""
