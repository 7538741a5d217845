package ollama

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/ollama/ollama/api"

	"replan/internal/untrusted"
	"replan/planning/fit"
	"replan/planning/prompt"
)

// findings are what is known of how models plan: what replan fit found here or loaded,
// and the built-in table.
type findings struct {
	file   string
	forced *fit.Settings // see Config.Settings
	log    *slog.Logger

	once  sync.Once
	table fit.Table
}

// read reads the file, once. One that cannot be read counts as empty: models are then
// driven by their size.
func (f *findings) read() fit.Table {
	f.once.Do(func() {
		var err error
		if f.table, err = fit.BuiltIn(); err != nil {
			f.log.Error("read the built-in findings", "error", err)
		}
		if f.file == "" {
			return
		}
		data, err := os.ReadFile(f.file)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		var own fit.Table
		if err == nil {
			own, err = fit.Decode(data)
		}
		if err != nil {
			f.log.Warn("read what replan fit found", "file", f.file, "error", err)
		}
		f.table = append(own, f.table...)
	})
	return f.table
}

// drive fills in how a model is driven.
func (f *findings) drive(server string, info prompt.ModelInfo) prompt.ModelInfo {
	found, ok := fit.Finding{}, f.forced != nil
	if ok {
		found = fit.Finding{Settings: *f.forced, Agents: fit.Share{Of: 1}} // of no source: not a measurement
	} else if found, ok = f.read().Of(server, info.Digest, info.Weights); !ok {
		return info
	}
	info.Fit, info.Small = &found, found.Settings.Short
	switch {
	case found.Agents.Of == 0: // it cannot call tools
	case found.Settings.Loops:
		info.Loops = prompt.LoopsManaged
	default:
		info.Loops = prompt.LoopsFailed
	}
	return info
}

// weights returns the name of a model's weights as their file has it: "Qwen2.5-Coder 1.5B
// Q4_K_M". It is the same under any name of the model. It is "" if the file names none.
func weights(shown *api.ShowResponse) untrusted.Text {
	var parts []string
	for _, key := range []string{"general.basename", "general.size_label", "general.finetune"} {
		part, _ := shown.ModelInfo[key].(string)
		if part = strings.TrimSpace(part); part == "" && key != "general.finetune" {
			return ""
		}
		if part != "" {
			parts = append(parts, part)
		}
	}
	return untrusted.Text(strings.Join(append(parts, shown.Details.QuantizationLevel), " "))
}
