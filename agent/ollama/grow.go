package ollama

import (
	"context"

	"replan/planning/prompt"
)

// Grow gives a model, "" being the one that will answer, a context window of at least so
// many tokens if it can. It returns the model as it is then.
//
// The window doubles until it is large enough or the model's own. It grows
//   - only if neither the user nor the Modelfile has set it;
//   - only to what fits into the memory that the server has shown, by an estimate
//     of what the context takes: see [known.fits]. Where the server does not report
//     its memory, the window stays;
//   - at most once for a model and client, since the server loads the model again.
//
// If the server cannot load the model so, the window stays as it was. Errors are
// those of [Client.Describe], and that of ctx.
func (c *Client) Grow(ctx context.Context, name string, tokens int) (prompt.ModelInfo, error) {
	info, about, err := c.describe(ctx, name)
	if err != nil || info.ContextWindow >= tokens || about.hasFixedWindow() {
		return info, err
	}
	asking, cancel := context.WithTimeout(ctx, describeTimeout)
	running, server := c.running(asking)
	cancel()
	window := about.step(tokens, info.Longest, running, server)
	if window == 0 || !c.mayGrow(info.Name) {
		return info, ctx.Err()
	}
	larger := info
	larger.ContextWindow = window
	if err := c.load(ctx, larger, about.paced()); err != nil {
		c.log.Warn("the context window cannot grow", "model", info.Name, "window", window, "error", err)
		return info, ctx.Err()
	}
	c.log.Info("the context window has grown", "model", info.Name, "from", info.ContextWindow, "to", window, "wanted", tokens)
	c.regard(about, window)
	return larger, nil
}

// mayGrow reports whether the model's window has not grown yet, and takes the turn.
func (c *Client) mayGrow(model string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	may := !c.grown[tagged(model)]
	c.grown[tagged(model)] = true
	return may
}

// regard replaces what is known about a model by the same with another window.
// Requests under way keep theirs.
func (c *Client) regard(about *known, window int) {
	larger := about.larger(window)
	c.mu.Lock()
	defer c.mu.Unlock()
	if key := tagged(larger.described().Name); c.known[key] == about {
		c.known[key] = larger
	}
}
