package bug

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"

	"replan/agent/event"
	"replan/internal/jsonparts"
	"replan/internal/redact"
)

// Report is what a report about a run tells.
type Report struct {
	Version string
	Doctor  string          // as replan doctor prints it
	Config  []byte          // the user's configuration as it is; nil if there is none
	Secrets *redact.Secrets // left out wherever they stand
	Events  []event.Event
}

// Content is a file in a report.
type Content struct {
	Name  string `json:"name"`
	About string `json:"about"`
	write func(io.Writer) error
}

// Contents returns the files of a report. They are redacted as they are written.
func (r Report) Contents() []Content {
	hide := r.Secrets.Text
	text := func(name, about, text string) Content {
		return Content{name, about, func(w io.Writer) error {
			_, err := io.WriteString(w, hide(text))
			return err
		}}
	}
	contents := []Content{
		{
			"journal.jsonl", fmt.Sprintf("the %d events of the run: goal, plans, calls with their arguments and results, answers", len(r.Events)),
			func(w io.Writer) error { return writeEvents(w, r.Events, hide) },
		},
		text("doctor.txt", "what replan doctor says of this machine", r.Doctor),
		text("version.txt", "the version of replan, Go and the system", r.Version+"\n"),
	}
	if r.Config != nil {
		contents = append(contents, text("config.toml", "your configuration", string(r.Config)))
	}
	return contents
}

// writeEvents writes events as JSON Lines.
func writeEvents(w io.Writer, events []event.Event, hide func(string) string) error {
	for _, e := range events {
		line, err := e.Line()
		var value any
		if err == nil {
			value, err = line.Value()
		}
		if err == nil {
			_, err = jsonparts.Write(w, redact.Value(value, hide))
		}
		if err == nil {
			_, err = io.WriteString(w, "\n")
		}
		if err != nil {
			return fmt.Errorf("write the event %d of the journal: %w", e.Seq, err)
		}
	}
	return nil
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
		if err = c.write(w); err != nil {
			return err
		}
	}
	return packed.Close()
}
