package remote

import "replan/agent/session"

// Abilities returns what the session can do. It is one run, in a folder of a worker.
func (*Session) Abilities() session.Abilities {
	return session.Abilities{
		NoGoals:         "this run takes no further goals: send it as a remark, or start another run",
		NoResume:        "A screen follows one run of workers: resume another with replan plan resume.",
		NoUndo:          "A run of workers cannot be undone.",
		NoConversations: "A run of workers is no conversation.",
		NoSideQuestions: "A run of workers cannot be asked beside its work: its model and tools are there.",
		Awaited:         "waiting for a worker to begin",
		Continues:       true,
		Leaving:         "leaves the run to its workers",
		Others: session.OtherRuns{
			Place: "running", State: "running on a worker", Advice: "A worker is running it.", Waits: "It waits for a worker.", Follow: "replan runs follow",
		},
	}
}
