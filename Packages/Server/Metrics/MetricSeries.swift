internal import CoreMetrics
internal import Synchronization

/// A number that only increases. Adding is one atomic addition.
final class CounterSeries: CounterHandler {
    private let count = Atomic<Int64>(0)

    var value: Int64 { count.load(ordering: .relaxed) }

    func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }

    /// Does nothing, because a counter that decreases would look like a restart of the process.
    func reset() {}
}

/// A number that may go up and down.
final class GaugeSeries: RecorderHandler, MeterHandler {
    private let bits = Atomic<UInt64>(Double.zero.bitPattern)

    var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
    func increment(by amount: Double) { bits.add(amount) }
    func decrement(by amount: Double) { bits.add(-amount) }
}

/// Counts observations by the smallest bound that includes them. An observation takes two atomic additions.
final class HistogramSeries: RecorderHandler, TimerHandler {
    /// A class, because `Atomic` can't be an array element.
    private final class Cell: Sendable {
        let count = Atomic<Int64>(0)
    }

    let bounds: [Double]
    /// One for each bound, and one for everything beyond the last.
    private let cells: [Cell]
    private let sumBits = Atomic<UInt64>(Double.zero.bitPattern)

    init(bounds: [Double]) {
        self.bounds = bounds
        cells = (0...bounds.count).map { _ in Cell() }
    }

    var sum: Double { Double(bitPattern: sumBits.load(ordering: .relaxed)) }

    /// How many observations were within each bound, with infinity last.
    var cumulativeCounts: [Int64] {
        var total: Int64 = 0
        return cells.map { cell in
            total += cell.count.load(ordering: .relaxed)
            return total
        }
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard !value.isNaN else { return }
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        cells[index].count.wrappingAdd(1, ordering: .relaxed)
        sumBits.add(value)
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1_000_000_000) }
}

/// Handed out for series beyond the registry's limit. It counts nothing.
final class DroppedSeries: CounterHandler, RecorderHandler, TimerHandler, MeterHandler {
    func increment(by amount: Int64) {}
    func reset() {}
    func record(_ value: Int64) {}
    func record(_ value: Double) {}
    func recordNanoseconds(_ duration: Int64) {}
    func set(_ value: Int64) {}
    func set(_ value: Double) {}
    func increment(by amount: Double) {}
    func decrement(by amount: Double) {}
}

extension Atomic<UInt64> {
    /// Adds to the number that is stored as this bit pattern.
    fileprivate func add(_ amount: Double) {
        var known = load(ordering: .relaxed)
        while true {
            let sum = (Double(bitPattern: known) + amount).bitPattern
            let (exchanged, original) = weakCompareExchange(expected: known, desired: sum, ordering: .relaxed)
            if exchanged { return }
            known = original
        }
    }
}
