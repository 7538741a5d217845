package retrieval_test

import (
	"fmt"
	"slices"
	"testing"

	"replan/planning/plan"
	"replan/planning/retrieval"
)

func TestToolsThatFindNeededIDsRankFirst(t *testing.T) {
	asker := func(name, id, about string) plan.Tool {
		schema := fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string","description":%q}},"required":[%q]}`, id, about, id)
		return plan.Tool{Name: name, Server: "trips", Description: "Lists hotels.", InputSchema: []byte(schema)}
	}
	for rule, c := range map[string]struct {
		asker plan.Tool
		found bool
	}{
		"the id is of what it finds": {asker("hotels", "town_id", ""), true},
		"the id in one word":         {asker("hotels", "townId", ""), true},
		"the description of the id":  {asker("hotels", "geo_id", "As returned by the tool searchTown."), true},
		"an id of something else":    {asker("hotels", "guest_id", ""), false},
		"an argument that is no id":  {asker("hotels", "town", ""), false},
		"a tool of another server":   {plan.Tool{Name: "hotels", Server: "other", Description: "Lists hotels.", InputSchema: asker("hotels", "town_id", "").InputSchema}, false},
	} {
		t.Run(rule, func(t *testing.T) {
			other := asker("deleteTown", "town_id", "")
			other.Description = ""
			got := names(retrieval.Rank(plan.Catalog{c.asker, other, tool("trips", "searchTown", "Finds a place.")}, retrieval.Query{Goal: "hotels in Rome"}))
			if found := slices.Index(got, "searchTown") < slices.Index(got, "deleteTown"); found != c.found {
				t.Errorf("got the order %v", got)
			}
		})
	}
}
