package agent

import (
	"time"

	"replan/planning"
)

// SessionServers is what every tool server offers, for the screen to show.
// Passing, as are all that follow: each is the answer to a question.
type SessionServers struct {
	Servers []planning.ServerStatus `json:"servers"`
	Tools   []OfferedTool           `json:"tools"`
}

// OfferedTool is a tool as a list of them shows it.
type OfferedTool struct {
	Server      string  `json:"server"`
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"` // untrusted text
	ReadOnly    bool    `json:"read_only,omitempty"`
	Destructive bool    `json:"destructive,omitempty"`
	Verdict     Verdict `json:"verdict,omitempty"` // of the rules on its calls; "" where that hangs on their arguments
}

// SessionSettings is what is in force where the program was started, and where
// each of it comes from.
type SessionSettings struct {
	File     string    `json:"file"`              // the user's configuration
	Missing  bool      `json:"missing,omitempty"` // there is no such file yet
	Settings []Setting `json:"settings"`
}

// Setting is one thing that can be configured.
type Setting struct {
	Key     string   `json:"key"`               // of the configuration: section.name
	Value   string   `json:"value"`             // in force, in words; "" is nothing
	Source  string   `json:"source"`            // flag, environment, configuration, this session or default
	Literal string   `json:"literal,omitempty"` // the value as TOML writes it; "" for one that no single line keeps
	About   string   `json:"about,omitempty"`   // what it does, a few words
	Choices []string `json:"choices,omitempty"` // where there are few
}

// SessionTalks lists the conversations that can be gone on with, newest first.
type SessionTalks struct {
	Talks []Talk `json:"talks"`
}

// Talk is a conversation in a line of a list.
type Talk struct {
	Session   string    `json:"session"`
	Workspace string    `json:"workspace,omitempty"` // of its newest run
	First     string    `json:"first"`               // what was said first
	Last      string    `json:"last,omitempty"`      // what was asked last
	Turns     int       `json:"turns"`               // things that the user said
	Runs      int       `json:"runs"`
	Changed   time.Time `json:"changed"`
	Open      bool      `json:"open,omitempty"` // somebody has it open
}

// SessionJournal is all that happened in a run, to be shown again.
type SessionJournal struct {
	Run     string  `json:"run"`
	Events  []Event `json:"events,omitempty"`
	Problem string  `json:"problem,omitempty"` // why there is none
}

// Kind of each event's data.
func (SessionServers) Kind() Kind  { return KindSessionServers }
func (SessionSettings) Kind() Kind { return KindSessionSettings }
func (SessionTalks) Kind() Kind    { return KindSessionTalks }
func (SessionJournal) Kind() Kind  { return KindSessionJournal }
