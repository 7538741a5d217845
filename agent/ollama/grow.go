package ollama

import (
	"context"

	"replan/planning/prompt"

	"github.com/ollama/ollama/api"
)

// Grow gives a model, "" being the one that will answer, a context window of at
// least so many tokens if it can, and returns the model as it is then.
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
	if err != nil || info.ContextWindow >= tokens || about.fixed {
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
	if err := c.load(ctx, larger, about.pacing); err != nil {
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
	about.mu.Lock()
	defer about.mu.Unlock()
	larger := &known{
		info: about.info, fixed: about.fixed, tokenBytes: about.tokenBytes,
		noTools: about.noTools, noLevels: about.noLevels, noThink: about.noThink, noFormat: about.noFormat,
		thinkToFormat: about.thinkToFormat, unformatted: about.unformatted, pacing: about.pacing,
	}
	larger.info.ContextWindow = window
	c.mu.Lock()
	defer c.mu.Unlock()
	if key := tagged(about.info.Name); c.known[key] == about {
		c.known[key] = larger
	}
}

// growable returns the largest context window that fits, 0 if none is larger.
func (k *known) growable(longest int, running []api.ProcessModelResponse, server serverFacts) int {
	if k.fixed {
		return 0
	}
	return k.step(longest, longest, running, server)
}

// step returns the context window to grow to for so many tokens, or the largest
// that fits if that one does not; 0 if none does. A model whose own limit is not
// known does not grow.
func (k *known) step(tokens, longest int, running []api.ProcessModelResponse, server serverFacts) int {
	fitting := 0
	for window := k.info.ContextWindow; window < min(tokens, longest); {
		window = min(2*window, longest)
		if !k.fits(window, running, server) {
			break
		}
		fitting = window
	}
	return fitting
}

// fits reports whether the server is known to have the memory for the model with a
// larger context window.
//
// The server reports what each loaded model takes, but not how much is
// free. Its memory is taken to be the most that models have used there together, in
// earlier sessions too: two at once, or a larger one. A model that lies in the memory of
// GPUs must fit there, or it would become slow. If some program has already loaded
// the model with such a window, it fits. A token of context is estimated by
// the model's description, with values of 16 bits, or by the memory that the loaded
// model uses beyond its weights, whichever is more. This errs on the large side.
func (k *known) fits(window int, running []api.ProcessModelResponse, server serverFacts) bool {
	perToken, weights := k.tokenBytes, k.info.Bytes
	m, loaded := runningModel(running, k.info.Name)
	if !loaded || m.ContextLength <= 0 || m.Size <= 0 {
		const reserve = 10 // percent, for what computing takes
		need := (weights + int64(window)*perToken) * (100 + reserve) / 100
		memory := server.Memory
		if server.GPU > 0 {
			memory = server.GPU
		}
		return perToken > 0 && weights > 0 && need <= memory
	}
	if m.ContextLength >= window {
		return true
	}
	if weights > 0 {
		perToken = max(perToken, (m.Size-weights)/int64(m.ContextLength))
	}
	need := m.Size + int64(window-m.ContextLength)*perToken
	memory := server.Memory
	if m.SizeVRAM >= m.Size {
		memory = server.GPU
	}
	return perToken > 0 && need <= memory
}

// tokenBytes estimates the memory for a token of context: a key and a value of 16
// bits each for every layer and head. It returns 0 if the server does not describe
// the model.
func tokenBytes(shown *api.ShowResponse) int64 {
	architecture, _ := shown.ModelInfo["general.architecture"].(string)
	number := func(key string) int64 {
		n, _ := shown.ModelInfo[architecture+"."+key].(float64)
		return int64(n)
	}
	layers, heads, keyHeads := number("block_count"), number("attention.head_count"), number("attention.head_count_kv")
	key, value := number("attention.key_length"), number("attention.value_length")
	if keyHeads == 0 {
		keyHeads = heads // some models list theirs by layer
	}
	if heads > 0 {
		length := number("embedding_length") / heads
		if key == 0 {
			key = length
		}
		if value == 0 {
			value = length
		}
	}
	const bytes = 2
	return layers * keyHeads * (key + value) * bytes
}
