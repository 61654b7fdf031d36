/// The simulation's only source of randomness: SplitMix64, which gives the same numbers for a seed on every machine.
public struct SimulatorRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Neighbouring seeds start far apart.
    public init(seed: UInt64) { state = Self.mix(seed &+ 0x1234_5678_9abc_def1) }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        return Self.mix(state)
    }

    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, but not including, `bound`.
    mutating func below(_ bound: Int) -> Int { Int(next() >> 33) % bound }

    mutating func from(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }

    mutating func chance(percent: Int) -> Bool { below(100) < percent }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// A number from 0 up to, but not including, 1.
    mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }
}
