package event

import "errors"

// ErrNoEvents reports that a journal holds no complete event. Its writer stopped
// before the first one was on disk, so nothing acted on it.
var ErrNoEvents = errors.New("it holds no events, because replan stopped before the first; delete it")
