public import CoreMetrics
internal import Synchronization

/// The metrics of one process: a backend for swift-metrics that Prometheus can read.
///
/// Instruments made for a ``MetricDefinition`` have its kind, help and buckets. Instruments that libraries make
/// without a definition here are counters, gauges, or histograms of seconds, under their own names. Everything is
/// bounded: beyond ``maximumSeriesCount``, a new series counts nothing, and ``droppedSeries`` reports it.
public final class MetricRegistry: MetricsFactory, Sendable {
    /// The most series of instruments. The series of collectors are bounded by the collectors.
    public static let maximumSeriesCount = 2_000
    /// Names and label values are cut to this number of bytes.
    static let maximumTextByteCount = 200

    public static let droppedSeries = MetricDefinition(
        "tombolo_metrics_dropped_series_total", .counter,
        "Series dropped because the process has too many of them.")

    /// Computes figures for each response.
    public typealias Collector = @Sendable () async -> [MetricSample]

    private struct Key: Hashable {
        let name: String
        let labels: [Label]
    }

    struct Label: Hashable {
        let name: String
        let value: String
    }

    enum Series {
        case counter(CounterSeries)
        case gauge(GaugeSeries)
        case histogram(HistogramSeries)
    }

    private struct State {
        var definitions: [String: MetricDefinition] = [:]
        var series: [Key: Series] = [:]
        var collectors: [Collector] = []
        var droppedCount = 0
    }

    private let state = Mutex(State())

    public init() { define([Self.droppedSeries]) }

    /// Registers metrics with their help and buckets.
    public func define(_ definitions: [MetricDefinition]) {
        state.withLock { state in
            for definition in definitions { state.definitions[definition.name] = definition }
        }
    }

    /// Adds figures that are computed for each response. The collector must return a bounded number of them, and not
    /// block.
    public func collect(_ collector: @escaping Collector) { state.withLock { $0.collectors.append(collector) } }

    /// Makes this the backend for everything that libraries and the operator's own code count through swift-metrics.
    /// Call once per process.
    public func install() { MetricsSystem.bootstrap(self) }

    // MARK: Instruments of definitions

    public func counter(_ definition: MetricDefinition, _ labels: String...) -> Counter {
        define([definition])
        return Counter(label: definition.name, dimensions: dimensions(definition, labels), factory: self)
    }

    /// For a histogram of seconds.
    public func timer(_ definition: MetricDefinition, _ labels: String...) -> Timer {
        define([definition])
        return Timer(label: definition.name, dimensions: dimensions(definition, labels), factory: self)
    }

    /// For a histogram of anything else.
    public func recorder(_ definition: MetricDefinition, _ labels: String...) -> Recorder {
        define([definition])
        return Recorder(label: definition.name, dimensions: dimensions(definition, labels), factory: self)
    }

    private func dimensions(_ definition: MetricDefinition, _ labels: [String]) -> [(String, String)] {
        Array(zip(definition.labels, labels))
    }

    // MARK: MetricsFactory

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        if case .counter(let series) = series(label, dimensions, { _ in .counter(CounterSeries()) }) { return series }
        return DroppedSeries()
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        if case .gauge(let series) = series(label, dimensions, { _ in .gauge(GaugeSeries()) }) { return series }
        return DroppedSeries()
    }

    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        let made = series(label, dimensions) { kind in
            if case .gauge = kind { return .gauge(GaugeSeries()) }
            return aggregate ? .histogram(Self.histogram(kind)) : .gauge(GaugeSeries())
        }
        switch made {
        case .gauge(let series): return series
        case .histogram(let series): return series
        case .counter, nil: return DroppedSeries()
        }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let made = series(label, dimensions) { .histogram(Self.histogram($0)) }
        if case .histogram(let series) = made { return series }
        return DroppedSeries()
    }

    // What an instrument counted remains valid after the instrument is gone.
    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}

    private static func histogram(_ kind: MetricDefinition.Kind?) -> HistogramSeries {
        if case .histogram(let bounds) = kind { return HistogramSeries(bounds: bounds) }
        guard case .histogram(let bounds) = MetricDefinition.Kind.seconds else { return HistogramSeries(bounds: []) }
        return HistogramSeries(bounds: bounds)
    }

    /// - Returns: nil if there are too many series.
    private func series(
        _ name: String, _ dimensions: [(String, String)], _ make: (MetricDefinition.Kind?) -> Series
    ) -> Series? {
        let name = Exposition.name(name)
        let key = Key(
            name: name,
            labels: dimensions.map {
                Label(name: Exposition.labelName($0.0), value: Exposition.shortened($0.1))
            })
        return state.withLock { state in
            if let known = state.series[key] { return known }
            guard state.series.count < Self.maximumSeriesCount else {
                state.droppedCount += 1
                return nil
            }
            let series = make(state.definitions[name]?.kind)
            state.series[key] = series
            return series
        }
    }

    // MARK: Reading

    /// All metrics in Prometheus's text format, version 0.0.4.
    public func exposition() async -> String {
        let collectors = state.withLock { $0.collectors }
        var samples: [MetricSample] = []
        for collector in collectors { samples += await collector() }
        var exposition = Exposition()
        state.withLock { state in
            for (key, series) in state.series {
                let definition = state.definitions[key.name] ?? Self.undefined(key.name, series)
                exposition.add(definition, key.labels, series)
            }
            samples.append(MetricSample(Self.droppedSeries, state.droppedCount))
        }
        for sample in samples { exposition.add(sample) }
        return exposition.text
    }

    private static func undefined(_ name: String, _ series: Series) -> MetricDefinition {
        switch series {
        case .counter: MetricDefinition(name, .counter, "Counted by a library.")
        case .gauge: MetricDefinition(name, .gauge, "Measured by a library.")
        case .histogram(let series):
            MetricDefinition(name, .histogram(bounds: series.bounds), "Measured by a library.")
        }
    }
}
