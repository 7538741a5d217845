package main

// A module outside plans, calls its own tools, replans, and prints the events.
func Example() {
	main()
	// Output:
	// plan: add up the prices of today
	// step 1: Fetch the prices of today
	//   failed: there are no prices of today
	// replan: revises 1
	// step 1: Fetch the prices of yesterday
	//   result: [3 4 5]
	// step 2: Add them up
	//   result: 12
	// completed goal_met
}
