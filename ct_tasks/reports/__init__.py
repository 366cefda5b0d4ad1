"""Reading runs, statistics, tables and the static site. Nothing here needs a server or the network."""
