package runner_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/runner"
	"replan/agent/store/journal"
	"replan/planning/plan"
)

// picture is content that is no text.
var picture = slices.Repeat([]byte("\x89PNG \x00\x01\xfe"), 200)

// draws is a tool that sends a picture, beside a text.
func draws(_ context.Context, c plan.ToolCall) (any, error) {
	a, err := c.SaveAttachment(picture, "image/png")
	if err != nil {
		return nil, err
	}
	if c.Tool.Name == "change" {
		return nil, &plan.ToolError{Tool: "change", Message: "it looks wrong"}
	}
	c.Beside("drawn by hand")
	return map[string]any{"shot": a.Value()}, nil
}

func TestContentThatIsNoTextIsKeptBesideTheJournal(t *testing.T) {
	runs := journal.Folder{Dir: t.TempDir()}
	j, err := runs.Create("mine")
	if err != nil {
		t.Fatal(err)
	}
	var fed any
	result, err := runner.Run(t.Context(), runner.Job{
		ID: "mine", Journal: j, Call: func(ctx context.Context, c plan.ToolCall) (any, error) {
			if c.Args["to"] != nil {
				fed = c.Args["to"]
				return nil, nil
			}
			return draws(ctx, c)
		},
		Plan: planOf(t, lookStep, `{"title":"C","tool":"change","args":{"to":"${seen.shot.file}"}}`),
	})
	if err := errors.Join(err, j.Close()); err != nil || result.Reason != event.ReasonGoalMet {
		t.Fatalf("%s: %v", result.Error, err)
	}
	run, err := runs.Fold("mine")
	if err != nil {
		t.Fatal(err)
	}
	step := run.Step("1")
	if len(step.Beside.Attachments) != 1 || step.Beside.Text != "drawn by hand" {
		t.Fatalf("beside the result: %+v", step.Beside)
	}
	a := step.Beside.Attachments[0]
	if content, err := os.ReadFile(a.File); err != nil || !bytes.Equal(content, picture) {
		t.Errorf("the file has %d bytes: %v", len(content), err)
	}
	if filepath.Dir(a.File) != filepath.Join(runs.Dir, "mine.values") || fed != a.File {
		t.Errorf("kept as %s, later step got %v", a.File, fed)
	}
	if item := run.History[0]; !slices.Equal(item.Attachments, step.Beside.Attachments) || item.Text != "drawn by hand" {
		t.Errorf("the history has %+v", item.Beside)
	}
	text, err := os.ReadFile(runs.Path("mine"))
	if encoded := base64.StdEncoding.EncodeToString(picture[:300]); err != nil || bytes.Contains(text, []byte(encoded)) || bytes.Contains(text, picture[:4]) {
		t.Errorf("the journal holds the picture: %v", err)
	}
}

func TestPictureOfAFailedCallIsKept(t *testing.T) {
	runs := journal.Folder{Dir: t.TempDir()}
	j, err := runs.Create("mine")
	if err != nil {
		t.Fatal(err)
	}
	_, err = runner.Run(t.Context(), runner.Job{ID: "mine", Journal: j, Call: draws, Plan: planOf(t, changeStep)})
	if err := errors.Join(err, j.Close()); err != nil {
		t.Fatal(err)
	}
	run, err := runs.Fold("mine")
	if err != nil {
		t.Fatal(err)
	}
	if step := run.Step("1"); step.Status != agent.StepFailed || len(step.Beside.Attachments) != 1 {
		t.Errorf("%s with %+v", step.Status, step.Beside)
	}
}
