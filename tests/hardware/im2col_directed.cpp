#include "im2col_cases.hpp"

#include <array>
#include <string_view>

namespace hardware {

namespace {

constexpr std::string_view map3 = "map dims=64,48,5 strides=256,0x3000 base=0x7f1234567800 ";
constexpr std::string_view map4 = "map dims=64,20,12,5 strides=256,0x1400,0xf000 base=0x7f1234567800 ";
constexpr std::string_view map5 =
    "map dims=64,20,12,6,5 strides=256,0x1400,0xf000,0x5a000 base=0x7f1234567800 ";
/// Tensors of 3, 4 and 5 dimensions in which pixels lie apart, so that each place tells its coordinates.
constexpr std::string_view load3 = "load dims=16,9,4 strides=80,1008 ";
constexpr std::string_view load4 = "load dims=16,9,7,3 strides=80,752,5424 ";
constexpr std::string_view load5 = "load dims=16,6,5,4,3 strides=80,512,2704,11200 ";

struct Group {
    std::string_view beginning;
    std::vector<std::string_view> ends;
};

/// One argument after the other at and beyond its limits.
const std::vector<Group>& maps() {
    static const std::vector<Group> groups{
        {map3,
         {"lo=0 hi=0 ch=16 px=64",
          "lo=-1 hi=-2 ch=16 px=64",
          "lo=-32768 hi=0 ch=16 px=64",
          "lo=0 hi=32767 ch=16 px=64",
          "lo=32767 hi=32767 ch=16 px=64",
          "lo=-32768 hi=-32768 ch=16 px=64",
          "lo=32768 hi=0 ch=16 px=64",
          "lo=0 hi=-32769 ch=16 px=64",
          "lo=0 hi=-47 ch=16 px=64",
          "lo=0 hi=-48 ch=16 px=64",
          "lo=47 hi=0 ch=16 px=64",
          "lo=48 hi=0 ch=16 px=64",
          "lo=0 hi=0 ch=16 px=1",
          "lo=0 hi=0 ch=16 px=1024",
          "lo=0 hi=0 ch=16 px=1025",
          "lo=0 hi=0 ch=16 px=0",
          "lo=0 hi=0 ch=4 px=64",
          "lo=0 hi=0 ch=0 px=64",
          "lo=0 hi=0 ch=2 px=64",
          "lo=0 hi=0 ch=3 px=64",
          "lo=0 hi=0 ch=256 px=64",
          "lo=0 hi=0 ch=256 px=256",
          "lo=0 hi=0 ch=256 px=228",
          "lo=0 hi=0 ch=256 px=229",
          "lo=0 hi=0 ch=256 px=1024",
          "lo=0 hi=0 ch=257 px=64",
          "lo=0 hi=0 ch=260 px=64",
          "lo=0 hi=0 ch=128 px=64",
          "lo=0 hi=0 ch=32 px=64 sw=3",
          "lo=0 hi=0 ch=36 px=64 sw=3",
          "lo=0 hi=0 ch=16 px=64 sw=2",
          "lo=0 hi=0 ch=20 px=64 sw=2",
          "lo=0 hi=0 ch=8 px=64 sw=1",
          "lo=0 hi=0 ch=12 px=64 sw=1",
          "lo=0 hi=0 ch=16 px=64 es=1,2,1",
          "lo=0 hi=0 ch=16 px=64 es=8,8,8",
          "lo=0 hi=0 ch=16 px=64 es=1,9,1",
          "lo=0 hi=0 ch=16 px=64 es=9,1,1",
          "lo=0 hi=0 ch=16 px=64 es=0,1,1",
          "lo=0 hi=0 ch=16 px=64 es=1,0,1",
          "lo=0 hi=0 ch=16 px=64 es=1,1,0",
          "lo=0 hi=0 ch=16 px=64 es=1,1,9",
          "lo=0 hi=0 ch=16 px=64 l2=3 sw=1",
          "lo=0 hi=0 ch=16 px=64 oob=1",
          "type=2 lo=0 hi=0 ch=16 px=64 oob=1",
          "type=11 lo=0 hi=0 ch=16 px=64",
          "type=12 lo=0 hi=0 ch=16 px=64",
          "type=10 lo=0 hi=0 ch=16 px=64",
          "type=13 lo=0 hi=0 ch=128 px=64",
          "type=6 lo=0 hi=0 ch=8 px=64 il=1",
          "type=6 lo=0 hi=0 ch=16 px=64 il=2",
          "type=6 lo=0 hi=0 ch=16 px=64 il=2 sw=1",
          "type=6 lo=0 hi=0 ch=1 px=64 il=1",
          "type=6 lo=0 hi=0 ch=64 px=64 il=1"}},
        {map4,
         {"lo=0,0 hi=0,0 ch=16 px=64", "lo=1,2 hi=3,4 ch=16 px=64", "lo=-1,-2 hi=-3,-4 ch=16 px=64",
          "lo=127,127 hi=127,127 ch=16 px=64", "lo=-128,-128 hi=-19,-11 ch=16 px=64",
          "lo=128,0 hi=0,0 ch=16 px=64", "lo=0,128 hi=0,0 ch=16 px=64", "lo=0,-129 hi=0,0 ch=16 px=64",
          "lo=-129,0 hi=0,0 ch=16 px=64", "lo=0,0 hi=128,0 ch=16 px=64", "lo=0,0 hi=0,128 ch=16 px=64",
          "lo=0,0 hi=-19,0 ch=16 px=64", "lo=0,0 hi=-20,0 ch=16 px=64", "lo=0,0 hi=0,-11 ch=16 px=64",
          "lo=0,0 hi=0,-12 ch=16 px=64", "lo=0,0 hi=-13,0 ch=16 px=64", "lo=-1,0 hi=-20,0 ch=16 px=64",
          "lo=0,0 hi=0,0 ch=16 px=64 es=1,2,3,1", "lo=0,0 hi=0,0 ch=16 px=64 es=4,5,6,7"}},
        {map5,
         {"lo=0,0,0 hi=0,0,0 ch=16 px=64", "lo=1,2,3 hi=4,5,6 ch=16 px=64",
          "lo=-1,-2,-3 hi=-4,-5,-1 ch=16 px=64", "lo=15,11,5 hi=15,15,15 ch=16 px=64",
          "lo=-16,-16,-16 hi=0,0,0 ch=16 px=64", "lo=16,0,0 hi=0,0,0 ch=16 px=64",
          "lo=0,16,0 hi=0,0,0 ch=16 px=64", "lo=0,0,16 hi=15,15,15 ch=16 px=64",
          "lo=0,0,0 hi=0,0,-5 ch=16 px=64", "lo=0,0,0 hi=0,0,-6 ch=16 px=64",
          "lo=0,0,0 hi=0,0,16 ch=16 px=64", "lo=-17,0,0 hi=0,0,0 ch=16 px=64",
          "lo=0,0,0 hi=0,-17,0 ch=16 px=64", "lo=0,0,0 hi=0,0,0 ch=16 px=64 es=1,2,3,4,5",
          "lo=0,0,0 hi=0,0,0 ch=16 px=64 es=8,7,6,5,4"}},
        {"map ",
         {"dims=64,48 strides=256 lo=- hi=- ch=16 px=64 base=0x7f1234567800",
          "dims=64 strides=- lo=- hi=- ch=16 px=64 base=0x7f1234567800",
          "dims=8,8,8,8,8,8 strides=32,256,2048,16384,131072 lo=0,0,0,0 hi=0,0,0,0 ch=4 px=64 base=0x1000",
          "dims=64,0,5 strides=256,0x3000 lo=0 hi=0 ch=16 px=64 base=0x7f1234567800",
          "dims=0,48,5 strides=256,0x3000 lo=0 hi=0 ch=16 px=64 base=0x7f1234567800",
          "dims=64,0x100000000,5 strides=256,0x3000 lo=0 hi=0 ch=16 px=64 base=0x7f1234567800",
          "dims=64,0x100000001,5 strides=256,0x3000 lo=0 hi=0 ch=16 px=64 base=0x7f1234567800",
          "dims=64,0x80000001,5 strides=256,0x3000 lo=0 hi=0 ch=16 px=64 base=0x7f1234567800",
          "dims=64,48,5 strides=248,0x3000 lo=0 hi=0 ch=16 px=64 base=0x7f1234567800",
          "dims=64,48,5 strides=16,0x3000 lo=0 hi=0 ch=16 px=64 base=0x7f1234567800",
          "dims=64,48,5 strides=0,0 lo=0 hi=0 ch=16 px=64 base=0x7f1234567800",
          "dims=64,48,5 strides=256,0x10000000000 lo=0 hi=0 ch=16 px=64 base=0x7f1234567800",
          "dims=64,48,5 strides=256,0xfffffffff0 lo=0 hi=0 ch=16 px=64 base=0x7f1234567800",
          "dims=64,48,5 strides=256,0x3000 lo=0 hi=0 ch=16 px=64 base=0x7f1234567808",
          "dims=64,48,5 strides=256,0x3000 lo=0 hi=0 ch=16 px=64 base=0x7f1234567810 il=2",
          "dims=64,48,5 strides=272,0x3000 lo=0 hi=0 ch=16 px=64 base=0x7f1234567800 il=2",
          "dims=64,48,5 strides=256,0x3000 lo=0 hi=0 ch=16 px=64 base=0",
          "dims=64,48,5 strides=256,0x3000 lo=0 hi=0 ch=16 px=64 base=0x200000000000000",
          "type=9 dims=64,48,5 strides=256,0x3000 lo=0 hi=0 ch=8 px=1024 base=0x7f1234567800"}},
    };
    return groups;
}

const std::vector<Group>& copies() {
    static const std::vector<Group> groups{
        // The examples of the PTX ISA, smaller.
        {"load type=6 dims=32,9,14,4 strides=64,576,8064 ",
         {"lo=-1,-1 hi=-1,-1 ch=8 px=64 start=0,4,7,2 off=0,0",
          "lo=0,0 hi=-2,-2 ch=8 px=64 start=0,4,7,2 off=2,2",
          "lo=0,0 hi=-2,-2 ch=8 px=64 start=8,4,7,2 off=0,0",
          "lo=-1,-1 hi=-1,-1 ch=8 px=256 start=0,-1,-1,0 off=1,1"}},
        {"load type=6 dims=32,8,14,4 strides=64,512,7168 ",
         {"lo=-1,-1 hi=-1,-1 es=1,2,2,1 ch=16 px=32 start=0,5,7,2 off=1,1",
          "lo=-1,-1 hi=-1,-1 es=1,2,2,1 ch=16 px=32 start=0,4,6,2 off=0,0"}},
        {load3,
         {"lo=0 hi=0 ch=16 px=1 start=0,0,0 off=0",
          "lo=0 hi=0 ch=16 px=9 start=0,0,0 off=0",
          "lo=0 hi=0 ch=16 px=10 start=0,0,0 off=0",
          "lo=0 hi=0 ch=16 px=40 start=0,0,0 off=0",
          "lo=2 hi=-3 ch=16 px=20 start=0,2,0 off=0",
          "lo=-2 hi=3 ch=16 px=40 start=0,-2,0 off=0",
          "lo=2 hi=3 ch=16 px=20 start=0,5,1 off=1",
          "lo=0 hi=0 ch=16 px=20 start=0,0,0 off=3",
          "lo=0 hi=0 ch=16 px=20 start=0,0,0 off=65535",
          "lo=0 hi=0 ch=16 px=20 start=0,0,0 off=32768",
          "lo=-300 hi=-300 ch=16 px=20 start=0,-295,1 off=298",
          "lo=0 hi=0 es=1,2,1 ch=16 px=20 start=0,0,0 off=0",
          "lo=0 hi=0 es=1,2,1 ch=16 px=20 start=0,1,0 off=0",
          "lo=0 hi=0 es=1,4,1 ch=16 px=20 start=0,3,0 off=0",
          "lo=0 hi=0 es=1,8,1 ch=16 px=9 start=0,7,0 off=0",
          "lo=0 hi=0 es=1,1,2 ch=16 px=36 start=0,0,0 off=0",
          "lo=0 hi=0 es=1,1,2 ch=16 px=36 start=0,3,1 off=0",
          "lo=0 hi=0 es=2,1,1 ch=16 px=20 start=0,0,0 off=0",
          "lo=0 hi=0 es=8,1,1 ch=4 px=20 start=4,0,0 off=0",
          "lo=0 hi=-8 ch=16 px=6 start=0,0,0 off=0",
          "lo=0 hi=-8 ch=16 px=6 start=0,0,0 off=8",
          "lo=8 hi=0 ch=16 px=6 start=0,8,0 off=0",
          "lo=0 hi=-8 es=1,3,1 ch=16 px=6 start=0,0,0 off=1",
          "lo=0 hi=0 ch=4 px=20 start=12,0,0 off=0",
          "lo=0 hi=0 ch=8 px=20 start=12,0,0 off=0",
          "lo=0 hi=0 ch=8 px=20 start=16,0,0 off=0",
          "lo=0 hi=0 ch=8 px=20 start=-4,0,0 off=0",
          "lo=0 hi=0 ch=8 px=20 start=-8,0,0 off=0",
          "lo=0 hi=0 ch=32 px=20 start=0,0,0 off=0 sw=3",
          "lo=0 hi=0 ch=8 px=20 start=0,0,0 off=0 sw=3",
          "lo=0 hi=0 ch=8 px=20 start=0,0,0 off=0 sw=2 at=128",
          "lo=0 hi=0 ch=4 px=20 start=0,0,0 off=0 sw=1",
          "lo=-1 hi=1 ch=16 px=30 start=0,-1,0 off=0 oob=1",
          "lo=-1 hi=1 ch=20 px=30 start=0,-1,0 off=0 oob=1 sw=3",
          "lo=0 hi=0 ch=4 px=1024 start=0,0,0 off=0",
          "lo=0 hi=0 ch=4 px=257 start=0,0,0 off=0",
          "lo=0 hi=0 ch=16 px=20 start=0,4,3 off=0",
          "lo=0 hi=0 ch=16 px=20 start=0,0,4 off=0",
          "lo=0 hi=0 ch=16 px=20 start=0,4,-1 off=0",
          "lo=0 hi=0 ch=16 px=20 start=0,4,-3 off=0",
          "lo=0 hi=0 ch=16 px=20 start=0,9,0 off=0",
          "lo=0 hi=0 ch=16 px=20 start=0,10,0 off=0",
          "lo=0 hi=0 ch=16 px=20 start=0,-1,0 off=0",
          "lo=0 hi=0 ch=16 px=20 start=0,-3,0 off=0",
          "lo=2 hi=-2 ch=16 px=20 start=0,0,0 off=0",
          "lo=2 hi=-2 ch=16 px=20 start=0,8,0 off=0",
          "lo=2 hi=-2 es=1,3,1 ch=16 px=20 start=0,0,0 off=0",
          "lo=-2 hi=-2 es=1,3,1 ch=16 px=20 start=0,-4,0 off=1",
          "lo=0 hi=0 ch=16 px=20 start=0,1000000,0 off=0",
          "lo=0 hi=0 ch=16 px=20 start=0,2147483647,0 off=0",
          "lo=0 hi=0 ch=16 px=20 start=0,-2147483648,0 off=0",
          "lo=0 hi=0 ch=16 px=20 start=0,2147483647,0 off=9"}},
        {load4,
         {"lo=0,0 hi=0,0 ch=16 px=63 start=0,0,0,0 off=0,0",
          "lo=0,0 hi=0,0 ch=16 px=100 start=0,3,2,0 off=0,0",
          "lo=1,2 hi=-2,-1 ch=16 px=60 start=0,1,2,0 off=0,0",
          "lo=-1,-2 hi=2,1 ch=16 px=99 start=0,0,0,0 off=0,0",
          "lo=-1,-1 hi=-1,-1 ch=16 px=63 start=0,-1,-1,0 off=2,0",
          "lo=-1,-1 hi=-1,-1 ch=16 px=63 start=0,-1,-1,0 off=0,2",
          "lo=-1,-1 hi=-1,-1 ch=16 px=63 start=0,-1,-1,0 off=255,1",
          "lo=-1,-1 hi=-1,-1 ch=16 px=63 start=0,-1,-1,0 off=1,200",
          "lo=-1,-1 hi=-1,-1 ch=16 px=30 start=0,-1,-1,0 off=256,1",
          "lo=0,0 hi=0,0 es=1,2,1,1 ch=16 px=50 start=0,0,0,0 off=0,0",
          "lo=0,0 hi=0,0 es=1,1,2,1 ch=16 px=50 start=0,0,0,0 off=0,0",
          "lo=0,0 hi=0,0 es=1,2,2,1 ch=16 px=50 start=0,1,1,0 off=0,0",
          "lo=0,0 hi=0,0 es=1,3,2,2 ch=16 px=50 start=0,1,1,1 off=0,0",
          "lo=0,0 hi=0,0 ch=16 px=40 start=0,3,8,0 off=0,0",
          "lo=0,0 hi=0,0 ch=16 px=40 start=0,3,-2,0 off=0,0",
          "lo=2,2 hi=-2,-2 ch=16 px=40 start=0,3,0,0 off=0,0",
          "lo=2,2 hi=-2,-2 ch=16 px=40 start=0,0,3,0 off=0,0",
          "lo=2,2 hi=-2,-2 ch=16 px=40 start=0,3,6,0 off=0,0",
          "lo=2,2 hi=-2,-2 ch=16 px=40 start=0,8,3,0 off=0,0",
          "lo=2,2 hi=-2,-2 ch=16 px=40 start=0,8,6,2 off=0,0",
          "lo=0,0 hi=0,0 ch=16 px=40 start=0,12,0,0 off=0,0"}},
        {load5,
         {"lo=0,0,0 hi=0,0,0 ch=16 px=256 start=0,0,0,0,0 off=0,0,0",
          "lo=1,2,1 hi=-2,-1,-1 ch=16 px=60 start=0,1,2,1,0 off=0,0,0",
          "lo=-1,-1,-2 hi=2,1,0 ch=16 px=200 start=0,0,0,0,0 off=0,0,0",
          "lo=-1,-1,-1 hi=-1,-1,-1 ch=16 px=120 start=0,-1,-1,-1,0 off=2,0,1",
          "lo=-1,-1,-1 hi=-1,-1,-1 ch=16 px=120 start=0,-1,-1,-1,0 off=31,31,31",
          "lo=-1,-1,-1 hi=-1,-1,-1 ch=16 px=20 start=0,-1,-1,-1,0 off=32,1,1",
          "lo=-1,-1,-1 hi=-1,-1,-1 ch=16 px=20 start=0,-1,-1,-1,0 off=0,1,2",
          "lo=0,0,0 hi=0,0,0 es=1,2,2,2,1 ch=16 px=60 start=0,1,1,1,0 off=0,0,0",
          "lo=0,0,0 hi=0,0,0 es=1,1,2,3,2 ch=16 px=100 start=0,1,1,1,0 off=0,0,0",
          "lo=0,0,0 hi=0,0,0 ch=16 px=60 start=0,1,1,5,0 off=0,0,0",
          "lo=0,0,1 hi=0,0,-1 ch=16 px=60 start=0,1,1,0,0 off=0,0,0"}},
        {"store dims=16,9,7,3 strides=80,752,5424 ",
         {"lo=0,0 hi=0,0 ch=16 px=63 start=0,0,0,0", "lo=0,0 hi=0,0 ch=16 px=100 start=0,3,2,0",
          "lo=1,2 hi=-2,-1 ch=16 px=60 start=0,1,2,0", "lo=-1,-2 hi=2,1 ch=16 px=99 start=0,0,0,0",
          "lo=-1,-1 hi=-1,-1 ch=16 px=63 start=0,-1,-1,0", "lo=-1,-1 hi=-1,-1 ch=16 px=63 start=0,0,0,0",
          "lo=0,0 hi=0,0 es=1,2,2,1 ch=16 px=50 start=0,1,1,0", "lo=0,0 hi=0,0 ch=8 px=50 start=12,1,1,0",
          "lo=0,0 hi=0,0 ch=8 px=50 start=16,1,1,0", "lo=0,0 hi=0,0 ch=8 px=50 start=0,1,1,2",
          "lo=0,0 hi=0,0 ch=8 px=50 start=0,1,1,3", "lo=0,0 hi=0,0 ch=8 px=50 start=0,9,1,0",
          "lo=2,2 hi=-2,-2 ch=16 px=40 start=0,0,3,0", "lo=0,0 hi=0,0 ch=20 px=50 start=0,1,1,0 sw=3"}},
        // Channels interleaved in groups of 16 bytes: {W, C / 8, N}, {W, H, C / 8, N}, …
        {"load type=6 il=1 ",
         {"dims=7,3,2 strides=160,560 lo=0 hi=0 ch=8 px=5 start=0,0,0 off=0",
          "dims=7,3,2 strides=160,560 lo=0 hi=0 ch=8 px=12 start=1,1,0 off=0",
          "dims=7,3,2 strides=160,560 lo=0 hi=0 ch=8 px=9 start=2,0,1 off=1",
          "dims=7,3,2 strides=160,560 lo=-1 hi=-1 ch=8 px=9 start=-1,0,0 off=0",
          "dims=7,3,2 strides=160,560 lo=-1 hi=-1 ch=16 px=9 start=0,0,0 off=1",
          "dims=7,3,2 strides=160,560 lo=0 hi=0 ch=24 px=5 start=0,0,0 off=0",
          "dims=7,3,2 strides=160,560 lo=0 hi=0 ch=1 px=5 start=0,0,0 off=0",
          "dims=7,3,2 strides=160,560 lo=0 hi=0 ch=4 px=5 start=0,0,0 off=0",
          "dims=7,3,2 strides=160,560 lo=0 hi=0 es=2,1,1 ch=8 px=5 start=0,0,0 off=0",
          "dims=7,3,2 strides=160,560 lo=0 hi=0 es=1,2,1 ch=8 px=5 start=0,0,0 off=0",
          "dims=7,5,3,2 strides=160,880,2800 lo=0,0 hi=0,0 ch=8 px=40 start=1,2,1,0 off=0,0",
          "dims=7,5,3,2 strides=160,880,2800 lo=-1,-2 hi=-1,0 ch=8 px=40 start=1,2,1,0 off=1,2",
          "dims=7,5,3,2 strides=160,880,2800 lo=0,0 hi=0,0 es=2,3,1,1 ch=8 px=30 start=1,2,1,0 off=0,0",
          "dims=7,5,4,3,2 strides=160,880,3600,10960 lo=0,0,0 hi=0,0,0 ch=8 px=60 start=1,2,1,1,0 off=0,1,0",
          "dims=7,5,4,3,2 strides=160,880,3600,10960 lo=-1,0,1 hi=-1,0,-1 ch=8 px=60 start=1,2,1,1,0 "
          "off=1,0,0",
          "dims=7,5,3,2 strides=160,880,2800 lo=0,0 hi=0,0 ch=8 px=40 start=1,2,1,0 off=0,0 sw=1",
          "dims=7,5,3,2 strides=160,880,2800 lo=0,0 hi=0,0 ch=8 px=40 start=1,2,1,0 off=0,0 sw=3",
          "dims=7,5,3,2 strides=160,880,2800 lo=0,0 hi=0,0 ch=8 px=40 start=1,2,1,0 off=0,0 oob=1"}},
        {"load type=6 il=2 ",
         {"dims=7,3,2 strides=320,1120 lo=0 hi=0 ch=16 px=5 start=1,1,0 off=0",
          "dims=7,3,2 strides=320,1120 lo=0 hi=0 ch=16 px=9 start=1,1,0 off=1 sw=1",
          "dims=7,5,3,2 strides=320,1760,5600 lo=-1,-1 hi=-1,-1 ch=16 px=40 start=1,2,1,0 off=1,2 sw=1",
          "dims=7,5,4,3,2 strides=320,1760,7200,21920 lo=-1,0,1 hi=-1,0,-1 ch=16 px=60 start=1,2,1,1,0 "
          "off=1,0,0 sw=1"}},
        {"store type=6 il=1 ",
         {"dims=7,3,2 strides=160,560 lo=0 hi=0 ch=8 px=12 start=1,1,0",
          "dims=7,5,3,2 strides=160,880,2800 lo=0,0 hi=0,0 ch=8 px=40 start=1,2,1,0"}},
    };
    return groups;
}

/// What an H200 may end with an error.
const std::vector<Group>& errors() {
    static const std::vector<Group> groups{
        {load3,
         {"lo=0 hi=0 ch=16 px=20 start=0,0,0 off=0 mode=tile",
          "lo=0 hi=0 ch=16 px=20 start=0,0,0,0 off=0,0 as=4", "lo=0 hi=0 ch=16 px=20 start=2,0,0 off=0",
          "lo=0 hi=0 ch=16 px=20 start=0,0,0 off=0 at=64", "box=16,4,1 start=0,0,0 off=0",
          "lo=0 hi=-8 ch=16 px=20 start=0,0,0 off=0 flip=7.19"}},
        {"store dims=16,9,4 strides=80,1008 ",
         {"lo=0 hi=0 ch=16 px=20 start=0,0,0 mode=tile", "lo=0 hi=0 ch=16 px=20 start=-4,0,0",
          "lo=0 hi=0 ch=16 px=20 start=0,-1,0", "lo=0 hi=0 ch=16 px=20 start=0,0,-1",
          "box=16,4,1 start=0,0,0"}},
    };
    return groups;
}

std::vector<std::string> lines_of(std::initializer_list<const std::vector<Group>*> parts) {
    std::vector<std::string> lines;
    for (const auto* groups : parts)
        for (const Group& group : *groups)
            for (const std::string_view end : group.ends)
                lines.push_back(std::string(group.beginning) + std::string(end));
    return lines;
}

} // namespace

std::vector<std::string> im2col_directed_cases() { return lines_of({&maps(), &copies()}); }

std::vector<std::string> im2col_last_cases() { return lines_of({&errors()}); }

} // namespace hardware
