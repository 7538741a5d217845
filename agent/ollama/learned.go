package ollama

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"replan/internal/untrusted"
	"replan/internal/wholefile"

	"github.com/ollama/ollama/api"
)

// learnedVersion is the version of the file format.
const learnedVersion = 1

// learnedFile holds what clients have learned about servers, for later sessions.
type learnedFile struct {
	V       int                    `json:"v"`
	Servers map[string]serverFacts `json:"servers"` // by URL
}

// serverFacts is what is known about one server. It holds for one version of Ollama,
// since the next one may have fixed its defects.
type serverFacts struct {
	Version       string                  `json:"version"`
	ThinkToFormat []string                `json:"think_to_format,omitempty"` // tagged names of the models that ignore a format with thinking off
	WritesCalls   []string                `json:"writes_calls,omitempty"`    // tagged names of the models whose calls do not arrive as calls
	Memory        int64                   `json:"memory,omitempty"`          // bytes; the most that models took together
	GPU           int64                   `json:"gpu,omitempty"`             // bytes; the most of them in memory of GPUs
	Paces         map[string]measuredPace `json:"paces,omitempty"`           // by tagged name of the model
}

// recollect reads, once, what earlier sessions learned about the server. It asks
// for the server's version only if there is something. Concurrent callers wait.
func (c *Client) recollect(ctx context.Context) {
	if c.file != "" {
		c.recollected.Do(func() { c.readLearned(ctx) })
	}
}

func (c *Client) readLearned(ctx context.Context) {
	file, err := c.learnedFile().Read()
	about, known := file.Servers[c.base.String()]
	if !known {
		c.log.Debug("nothing was learned about the server", "file", c.file, "error", err)
		return
	}
	version, err := c.api.Version(ctx)
	if err != nil || version != about.Version {
		c.log.Info("what was learned about the server holds no longer", "version", version, "was", about.Version, "error", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server = about
}

// learnedFile returns the file of c. A damaged file is ignored: it is only
// a cache.
func (c *Client) learnedFile() *wholefile.JSON[learnedFile] {
	return &wholefile.JSON[learnedFile]{
		Path: c.file, What: "what was learned about servers", Empty: learnedFile{V: learnedVersion},
		Sound: func(f learnedFile) bool { return f.V == learnedVersion },
	}
}

// learn changes what is known about the server, here and on disk. A change that
// cannot be saved holds for this client.
func (c *Client) learn(ctx context.Context, change func(*serverFacts)) {
	version, err := c.api.Version(ctx)
	c.mu.Lock()
	c.server.ThinkToFormat, c.server.WritesCalls, c.server.Paces = slices.Clone(c.server.ThinkToFormat), slices.Clone(c.server.WritesCalls), maps.Clone(c.server.Paces)
	change(&c.server)
	c.server.Version = version
	c.mu.Unlock()
	if err == nil && c.file != "" {
		_, err = c.learnedFile().Change(ctx, func(file *learnedFile) {
			about := file.Servers[c.base.String()]
			if about.Version != version {
				about = serverFacts{Version: version}
			}
			change(&about)
			if file.Servers == nil {
				file.Servers = map[string]serverFacts{}
			}
			file.Servers[c.base.String()] = about
		})
	}
	if err != nil {
		c.log.Warn("save what was learned about the server", "file", c.file, "error", err)
	}
}

// preferThinking stores whether a model keeps to a format only if it thinks first.
func (c *Client) preferThinking(ctx context.Context, k *known, think bool) {
	k.preferThinking(think)
	name := tagged(k.described().Name)
	c.learn(ctx, func(about *serverFacts) {
		about.ThinkToFormat = slices.DeleteFunc(about.ThinkToFormat, func(n string) bool { return n == name })
		if think {
			about.ThinkToFormat = append(about.ThinkToFormat, name)
		}
	})
}

// keepsListing stores that a loop went on with its tools listed in the prompt, see
// prompt.Request, so that the next one begins so.
func (c *Client) keepsListing(ctx context.Context, k *known) {
	if !k.learnToWrite() {
		return
	}
	name := tagged(k.described().Name)
	c.learn(ctx, func(about *serverFacts) {
		if !slices.Contains(about.WritesCalls, name) {
			about.WritesCalls = append(about.WritesCalls, name)
		}
	})
}

// savePace stores the pace of a model.
func (c *Client) savePace(ctx context.Context, model string, now measuredPace) {
	if c.file == "" {
		return
	}
	name := tagged(model)
	c.learn(ctx, func(about *serverFacts) {
		if about.Paces == nil {
			about.Paces = make(map[string]measuredPace)
		}
		about.Paces[name] = now
	})
}

// defect describes what replan works around with a model, "" if there is nothing.
func (c *Client) defect(name string, k *known) untrusted.Text {
	if !k.ignoresFormat() {
		return ""
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	server := "Ollama"
	if c.server.Version != "" {
		server += " " + c.server.Version
	}
	return untrusted.Text(fmt.Sprintf("%s on %s ignores a format with thinking off; replan asks it with thinking on", name, server))
}

// seen stores how much memory the loaded models take, if it is more than they
// took before.
func (c *Client) seen(ctx context.Context, running []api.ProcessModelResponse) serverFacts {
	var memory, gpu int64
	for _, m := range running {
		memory, gpu = memory+m.Size, gpu+m.SizeVRAM
	}
	c.mu.Lock()
	more := memory > c.server.Memory || gpu > c.server.GPU
	c.mu.Unlock()
	if more {
		c.learn(ctx, func(about *serverFacts) {
			about.Memory, about.GPU = max(about.Memory, memory), max(about.GPU, gpu)
		})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server
}
