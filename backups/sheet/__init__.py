"""How the tables of a plan are restored without Levee."""
