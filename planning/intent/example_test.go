package intent_test

import (
	"fmt"

	"replan/planning/intent"
)

func ExampleFacts_Route() {
	words := "rename authenticate to verify_user"
	chain := intent.Facts{}.Route(intent.Parse(words), intent.Policy{})
	graph, err := intent.Compose(chain, words)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, n := range chain.Nodes {
		fmt.Println(i, n.Tool, n.DependsOn)
	}
	fmt.Println("ask:", graph.PolicyGates, "at once:", graph.Parallelizable, graph.EstimatedComplexity, chain.Ready())
	// Output:
	// 0 code.references []
	// 1 code.transform [0]
	// 2 code.summarize [1]
	// 3 fs.patch [1]
	// 4 test.run [3]
	// ask: [3] at once: [[2 3]] medium true
}
