package worker

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"replan/cli"
)

func TestLogLeavesOutWarningsAboutWhatIsUsual(t *testing.T) {
	var log bytes.Buffer
	p := &program{std: cli.IO{Err: &log}}
	logger := p.logger(slog.LevelWarn).With("service", "system_database")
	logger.Warn("Recv() timeout reached")
	logger.Warn("workflow error type cannot be gob-encoded; persisting its message only", "error_type", "*errors.errorString")
	logger.WithGroup("engine").Warn("Workflow outcome was not recorded: the workflow is no longer owned by this execution")
	logger.Warn("Current application version is not the latest", "current", "1.0", "latest", "1.1")
	logger.Warn("the disk is full")
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "the disk is full") || !strings.Contains(text, "service=") {
		t.Errorf("the log is %q", text)
	}
}
