package bug

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"replan/agent/event"
	"replan/internal/redact"
)

// Report is what a report about a run tells.
type Report struct {
	Version string
	Doctor  string   // as replan doctor prints it
	Config  []byte   // the user's configuration as it is; nil if there is none
	Environ []string // NAME=VALUE; the values of secret variables are left out wherever they stand
	Events  []event.Event
}

// Content is a file in a report.
type Content struct {
	Name  string `json:"name"`
	About string `json:"about"`
	text  []byte
}

// Contents returns the files of a report, redacted.
func (r Report) Contents() ([]Content, error) {
	hide := r.hider()
	var journal bytes.Buffer
	for _, e := range r.Events {
		line, err := json.Marshal(e)
		var value any
		if err == nil {
			err = json.Unmarshal(line, &value)
		}
		if err == nil {
			line, err = json.Marshal(redact.Value(value, hide))
		}
		if err != nil {
			return nil, fmt.Errorf("write the event %d of the journal: %w", e.Seq, err)
		}
		journal.Write(append(line, '\n'))
	}
	contents := []Content{
		{"journal.jsonl", fmt.Sprintf("the %d events of the run: goal, plans, calls with their arguments and results, answers", len(r.Events)), journal.Bytes()},
		{"doctor.txt", "what replan doctor says of this machine", []byte(hide(r.Doctor))},
		{"version.txt", "the version of replan, Go and the system", []byte(hide(r.Version + "\n"))},
	}
	if r.Config != nil {
		contents = append(contents, Content{"config.toml", "your configuration", []byte(hide(string(r.Config)))})
	}
	return contents, nil
}

// hider returns the function that leaves out secrets: those of [redact.Text], and the
// values of secret variables.
func (r Report) hider() func(string) string {
	const short = 6 // such a value may be an ordinary word
	var pairs []string
	for _, entry := range r.Environ {
		if name, value, _ := strings.Cut(entry, "="); len(value) >= short && redact.Variable(name, value) {
			pairs = append(pairs, value, "["+name+" left out]")
		}
	}
	known := strings.NewReplacer(pairs...)
	return func(text string) string { return redact.Text(known.Replace(text)) }
}

// Pack writes the contents of a report to a new file that only the user can read. It
// leaves no file behind that is not whole.
func Pack(path string, contents []Content) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- the user names it
	if err != nil {
		return err
	}
	defer func() {
		if err = errors.Join(err, file.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	packed := zip.NewWriter(file)
	for _, c := range contents {
		var w io.Writer
		if w, err = packed.Create(c.Name); err != nil {
			return err
		}
		if _, err = w.Write(c.text); err != nil {
			return err
		}
	}
	return packed.Close()
}
