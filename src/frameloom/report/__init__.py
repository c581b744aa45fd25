"""Explanations for a person: as text, as one page of HTML, and the pages of break kinds on the command line."""
