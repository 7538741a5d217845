package client

import "replan/internal/untrusted"

// text is the sentence of an error.
func text(err error) untrusted.Text { return untrusted.Text(err.Error()) }
