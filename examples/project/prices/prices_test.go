package prices

import (
	"testing"
	"time"
)

func TestATotalIsThePriceOfAll(t *testing.T) {
	time.Sleep(time.Second) // stands for a price list that is fetched
	if total := Total(250, 3); total != 750 {
		t.Errorf("the total is %d", total)
	}
}
