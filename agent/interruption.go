package agent

// interruption records how the end of a program, or a damaged journal, affected a step.
type interruption struct {
	cause   interruptionCause
	toRerun bool // it was in doubt, and has not started since the answer that it runs again
}

// interruptionCause is what interrupted a step.
type interruptionCause uint8

const (
	uninterrupted    interruptionCause = iota
	startUnknown                       // a damaged journal line may have recorded its start
	lost                               // it was running when the program ended
	lostStartUnknown                   // both
	rerunUnasked                       // it was in doubt and runs again without a question
)

// isLost reports whether the step was running when the program ended.
func (i *interruption) isLost() bool { return i.cause == lost || i.cause == lostStartUnknown }

// mayNotHaveStarted reports whether a lost step has a start that only a damaged line may have
// recorded.
func (i *interruption) mayNotHaveStarted() bool { return i.cause == lostStartUnknown }

// startMayBeLost notes that a damaged line of the journal may have recorded the start.
func (i *interruption) startMayBeLost() { i.cause = startUnknown }

// started notes that an attempt starts.
func (i *interruption) started() {
	i.toRerun = false
	if i.cause == startUnknown {
		i.cause = uninterrupted
	}
}

// lose notes that the step was running when the program ended. before is what had interrupted it
// before that.
func (i *interruption) lose(before interruptionCause) {
	i.cause = lost
	if before == startUnknown || before == lostStartUnknown {
		i.cause = lostStartUnknown
	}
}

// asked notes that a question is open about what was lost.
func (i *interruption) asked() {
	if i.isLost() {
		i.cause = uninterrupted
	}
}

// take returns what interrupted the step, and forgets it.
func (i *interruption) take() interruptionCause {
	before := i.cause
	i.cause = uninterrupted
	return before
}

// rerun lets a step in doubt run again; unasked says that no question was answered so.
func (i *interruption) rerun(unasked bool) {
	i.cause, i.toRerun = uninterrupted, true
	if unasked {
		i.cause = rerunUnasked
	}
}

// rerunsUnasked reports whether it runs again without a question.
func (i *interruption) rerunsUnasked() bool { return i.cause == rerunUnasked }

// reruns reports whether it has not started since the answer that it runs again.
func (i *interruption) reruns() bool { return i.toRerun }
