"""What the compiler says to a person: break kinds, errors, messages at the user's line, events and counters."""
