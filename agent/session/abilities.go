package session

// Abilities says what a session can do for its user. The zero value can do everything.
type Abilities struct {
	// Why it cannot do something, for the user; "" says that it can.
	NoGoals         string // take goals, or queue them
	NoResume        string // resume runs
	NoUndo          string // undo runs
	NoConversations string // list and continue conversations
	NoSideQuestions string // answer side questions

	// Awaited is what the user waits for until the run of the session begins; "" says that
	// the session has begun none.
	Awaited string
	// Continues says that its run continues when the user leaves. Leaving is what a key
	// that quits does then, such as "leaves the run to its workers".
	Continues bool
	Leaving   string

	// Others says where the runs are that the session does not carry out. The zero value
	// says that another replan does; see OtherRuns.
	Others OtherRuns
}

// OtherRuns says where runs are that a session does not carry out, for its user.
type OtherRuns struct {
	Place  string // one word for a list, such as "elsewhere"
	State  string // such as "running in another replan"
	Advice string // why this session cannot change one: a sentence
	Waits  string // why one that has not begun does nothing: a sentence
	Follow string // the command that follows one, before its id; "" is none
}

// OtherRuns says where the runs are that the session does not carry out.
func (a Abilities) OtherRuns() OtherRuns {
	if a.Others != (OtherRuns{}) {
		return a.Others
	}
	return OtherRuns{Place: "elsewhere", State: "running in another replan", Advice: "Another replan is running it.", Waits: "It has not begun."}
}
