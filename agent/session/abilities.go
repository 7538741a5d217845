package session

// Abilities says what a session can do for its user. The zero value can do everything.
type Abilities struct {
	// Why it cannot do something, for the user; "" says that it can.
	NoGoals         string // take goals, or queue them
	NoResume        string // resume runs
	NoUndo          string // undo runs
	NoConversations string // list and continue conversations

	// ByWorkers says that workers carry out its run, which goes on when the user leaves.
	ByWorkers bool
}
