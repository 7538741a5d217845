package runner

import (
	"cmp"
	"maps"

	"replan/agent"
)

// measurements holds what the runs of a session have shown of its models.
type measurements struct {
	rates  map[string]float64 // bytes per token by model, as its server counts
	wanted map[string]int     // the most tokens of a request that its window cut, by model
}

func newMeasurements() *measurements {
	return &measurements{rates: map[string]float64{}, wanted: map[string]int{}}
}

// add records how the server counted the prompts of a run, and the window that they
// wanted.
func (m *measurements) add(run *agent.Run) {
	addWanted(m.wanted, run)
	for _, model := range append(run.Models().Names(), run.Model) {
		if measured := run.BytesPerToken(model); measured > 0 {
			m.rates[model] = measured
		}
	}
}

// rate returns the bytes per token of a model, 0 if unknown.
func (m *measurements) rate(model string) float64 { return m.rates[model] }

// snapshot returns copies for a worker.
func (m *measurements) snapshot() (rates map[string]float64, wanted map[string]int) {
	return maps.Clone(m.rates), maps.Clone(m.wanted)
}

// addWanted adds the most tokens that a request of a run would have taken if its window
// had not cut it. They are kept by the model that served it.
func addWanted(most map[string]int, run *agent.Run) {
	for _, x := range run.Exchanges {
		model := cmp.Or(x.Request.Model, run.Model)
		most[model] = max(most[model], x.Request.Wanted)
	}
}
