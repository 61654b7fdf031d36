import CoreMetrics
import TestSupport
import Testing
import TomboloMetrics

/// Prometheus's own parser checks the output for operators.
@Suite struct ExpositionTests {
    private static let counted = MetricDefinition(
        "tests_counted_total", .counter, labels: ["kind"], "Counts\nwith a \\ and \"quotes\".")
    private static let sizes = MetricDefinition(
        "tests_sizes_bytes", .histogram(bounds: [1, 10, 100]), labels: [], "Sizes.")
    private static let took = MetricDefinition("tests_took_seconds", .shortSeconds, labels: ["route"], "Times.")
    private static let level = MetricDefinition("tests_level", .gauge, labels: ["place"], "A level.")

    @Test("another program reads the correct counters, gauges and histograms")
    func everyKind() async throws {
        let registry = MetricRegistry()
        registry.counter(Self.counted, "a").increment(by: 3)
        registry.counter(Self.counted, "a").increment()
        registry.counter(Self.counted, "b").increment(by: 1 << 53)
        let sizes = registry.recorder(Self.sizes)
        for size in [0, 1, 2, 10, 11, 1_000] { sizes.record(size) }
        registry.timer(Self.took, "/a/{id}").recordNanoseconds(1_500_000)
        registry.collect {
            [MetricSample(Self.level, 1.25, "here"), MetricSample(Self.level, -Double.infinity, "there")]
        }

        let metrics = try await ParsedMetrics(await registry.exposition())
        #expect(metrics.value("tests_counted_total", ["kind": "a"]) == 4)
        #expect(metrics.value("tests_counted_total", ["kind": "b"]) == 9_007_199_254_740_992)
        #expect(metrics.families.first { $0.name == "tests_counted" }?.help == Self.counted.help)
        for (bound, count) in [("1", 2), ("10", 4), ("100", 5), ("+Inf", 6)] {
            #expect(metrics.value("tests_sizes_bytes_bucket", ["le": bound]) == Double(count), "up to \(bound)")
        }
        #expect(metrics.value("tests_sizes_bytes_sum") == 1_024)
        #expect(metrics.value("tests_sizes_bytes_count") == 6)
        #expect(metrics.value("tests_took_seconds_sum", ["route": "/a/{id}"]) == 0.0015)
        #expect(metrics.value("tests_took_seconds_bucket", ["route": "/a/{id}", "le": "0.005"]) == 1)
        #expect(metrics.value("tests_took_seconds_bucket", ["route": "/a/{id}", "le": "0.001"]) == 0)
        #expect(metrics.value("tests_level", ["place": "here"]) == 1.25)
        #expect(metrics.value("tests_level", ["place": "there"]) == -.infinity)
        #expect(metrics.families.map(\.type).contains("histogram"))
    }

    @Test(
        "labels keep any text",
        arguments: ["", "plain", "back\\slash", "\"quoted\"", "two\nlines", "a\\nb", "{a=\"b\"}", "ünï", "\\", "tab\t"])
    func labels(_ text: String) async throws {
        let registry = MetricRegistry()
        registry.counter(Self.counted, text).increment()
        let metrics = try await ParsedMetrics(await registry.exposition())
        #expect(metrics.value("tests_counted_total", ["kind": text]) == 1)
    }

    @Test("libraries' metrics have valid versions of their own names, and a name can't be used for two kinds")
    func libraries() async throws {
        let registry = MetricRegistry()
        Counter(label: "a.library/counter", dimensions: [("a-label", "x")], factory: registry).increment(by: 2)
        Gauge(label: "9gauge", factory: registry).record(7)
        Meter(label: "meter", factory: registry).increment(by: 2.5)
        Timer(label: "a.library/counter", dimensions: [("a-label", "x")], factory: registry).recordSeconds(1)
        let metrics = try await ParsedMetrics(await registry.exposition())
        // This counter's name doesn't end with `_total`, so the parser adds that.
        #expect(
            metrics.families.flatMap(\.samples).contains {
                $0.name.hasPrefix("a_library_counter") && $0.labels == ["a_label": "x"] && $0.value == "2.0"
            })
        #expect(metrics.value("_9gauge") == 7)
        #expect(metrics.value("meter") == 2.5)
    }

    @Test("beyond its limit, a process adds no new series, and counts what it left out")
    func seriesAreBounded() async throws {
        let registry = MetricRegistry()
        for number in 0..<(MetricRegistry.maximumSeriesCount + 5) {
            registry.counter(Self.counted, "\(number)").increment()
        }
        // A known series keeps counting.
        registry.counter(Self.counted, "7").increment()
        let metrics = try await ParsedMetrics(await registry.exposition())
        #expect(metrics.value("tests_counted_total", ["kind": "7"]) == 2)
        #expect(metrics.value(MetricRegistry.droppedSeries.name) == 5)
        let counted = metrics.families.first { $0.name == "tests_counted" }
        #expect(counted?.samples.count == MetricRegistry.maximumSeriesCount)
    }

    @Test("many tasks can count at once without losing anything")
    func concurrentCounts() async throws {
        let registry = MetricRegistry()
        let counter = registry.counter(Self.counted, "all")
        let recorder = registry.recorder(Self.sizes)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<2_000 {
                        counter.increment()
                        recorder.record(5)
                    }
                }
            }
        }
        let metrics = try await ParsedMetrics(await registry.exposition())
        #expect(metrics.value("tests_counted_total", ["kind": "all"]) == 16_000)
        #expect(metrics.value("tests_sizes_bytes_sum") == 80_000)
        #expect(metrics.value("tests_sizes_bytes_count") == 16_000)
    }

    @Test("the process reports metrics about itself")
    func process() async throws {
        let registry = MetricRegistry()
        registry.collect(ProcessMetrics.samples)
        let metrics = try await ParsedMetrics(await registry.exposition())
        #expect(try #require(metrics.value("process_cpu_seconds_total")) > 0)
        #expect(try #require(metrics.value("process_max_fds")) > 0)
        #if os(Linux)
            #expect(metrics.names.isSuperset(of: ProcessMetrics.definitions.map(\.name)))
            #expect(try #require(metrics.value("process_resident_memory_bytes")) > 1_048_576)
            #expect(try #require(metrics.value("process_start_time_seconds")) > 1_700_000_000)
            #expect(try #require(metrics.value("process_open_fds")) >= 3)
        #endif
    }
}
