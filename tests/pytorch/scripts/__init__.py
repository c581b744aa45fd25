"""Small programs of what training scripts use of torch, for the page of features; each is given `wrap` and gives all that shows."""
