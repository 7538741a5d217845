package worker

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"replan/cli"
)

func TestLogLeavesOutThatNoCommandCameInTime(t *testing.T) {
	var log bytes.Buffer
	p := &program{std: cli.IO{Err: &log}}
	logger := p.logger(slog.LevelWarn).With("service", "system_database")
	logger.Warn("Recv() timeout reached")
	logger.Warn("the disk is full")
	if text := log.String(); strings.Contains(text, "Recv") || !strings.Contains(text, "the disk is full") || !strings.Contains(text, "service=") {
		t.Errorf("the log is %q", text)
	}
}
