// Whether an interval is in an IN list, by value_set.h: one of 30 days is in a list that has a month.
#pragma once

DK_IN_OF(interval, dk_interval)
