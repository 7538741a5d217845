package reply_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/reply"
)

// withDependencies returns a plan of steps without indices, with these
// dependencies.
func withDependencies(needs ...string) string {
	steps := make([]string, len(needs))
	for i, n := range needs {
		steps[i] = fmt.Sprintf(`{"title":%q,"tool":"x","depends_on":[%s]}`, string(rune('A'+i)), n)
	}
	return `{"title":"t","steps":[` + strings.Join(steps, ",") + `]}`
}

func TestDependenciesWithoutIndicesRevealBase(t *testing.T) {
	for _, tt := range []struct {
		name, reply, want string
		streamed          []int // steps streamed after each step of the reply
	}{
		{"late 0 counts from 0", withDependencies("", "", "1", "0"), "1<> 2<> 3<2> 4<1>", []int{1, 2, 2, 4}},
		{"early 0 counts from 0", withDependencies("", "0", "1"), "1<> 2<1> 3<2>", []int{1, 2, 3}},
		{"own number from 0 counts from 1", withDependencies("", "1", "1"), "1<> 2<1> 3<1>", []int{1, 2, 3}},
		{"late own number counts from 1", withDependencies("", "", "1", "3"), "1<> 2<> 3<1> 4<3>", []int{1, 2, 2, 4}},
		{"undecided numbers are kept", withDependencies("", "", "1", "1,2"), "1<> 2<> 3<1> 4<1,2>", []int{1, 2, 2, 4}},
		{"independent step waits for undecided ones", withDependencies("", "", "1", "", "0"), "1<> 2<> 3<2> 4<> 5<1>", []int{1, 2, 2, 2, 5}},
		{"titles decide nothing", withDependencies("", `"A"`, "1", "0"), "1<> 2<1> 3<2> 4<1>", []int{1, 2, 2, 4}},
		{"titles beside numbers", withDependencies("", "", `"A",1`, "0"), "1<> 2<> 3<1,2> 4<1>", []int{1, 2, 2, 4}},
		{"unknown step counts from 1", withDependencies("", "", "1", "9", "0"), "1<> 2<> 3<1> 4<9> 5<0>", []int{1, 2, 2, 4, 5}},
		{"0 beside a later step is kept", withDependencies("", "", "1", "0,3"), "1<> 2<> 3<1> 4<0,3>", []int{1, 2, 2, 4}},
		{
			"explicit indices", `{"steps":[{"index":1,"title":"A","tool":"x"},{"index":2,"title":"B","tool":"x"},{"index":3,"title":"C","tool":"x","depends_on":[1]},{"index":4,"title":"D","tool":"x","depends_on":[]}]}`,
			"1<> 2<> 3<1> 4<>",
			[]int{1, 2, 3, 4},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			short := func(steps []plan.Step) string {
				var all []string
				for _, s := range steps {
					all = append(all, fmt.Sprintf("%s<%s>", s.Index, strings.Join(s.DependsOn, ",")))
				}
				return strings.Join(all, " ")
			}
			if got := short(reply.ReadSteps(tt.reply)); got != tt.want {
				t.Errorf("read as %s, want %s", got, tt.want)
			}
			var stream reply.StepStream
			var steps []plan.Step
			var counts []int
			for _, part := range strings.SplitAfter(tt.reply, "},") {
				steps = append(steps, stream.Feed(part)...)
				counts = append(counts, len(steps))
			}
			if fmt.Sprint(counts) != fmt.Sprint(tt.streamed) || short(steps) != tt.want {
				t.Errorf("streamed as %s, %v; want %s, %v", short(steps), counts, tt.want, tt.streamed)
			}
		})
	}
}

func TestBlanksInTheIndicesOfAReplyBecomeDashes(t *testing.T) {
	steps := reply.ReadSteps(`{"title":"T","steps":[{"index":"part one","title":"A","tool":"x"},{"index":"part two","title":"B","tool":"x","depends_on":["part one"]}]}`)
	if len(steps) != 2 || steps[1].Index != "part-two" || steps[1].DependsOn[0] != "part-one" {
		t.Errorf("got %+v", steps)
	}
}
