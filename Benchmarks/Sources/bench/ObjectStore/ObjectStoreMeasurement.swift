import Foundation

/// The device's object store, compared with raw SQLite doing the same work on the same table, alternately.
struct ObjectStoreMeasurement: Measurable {
    let sizes: Sizes.ObjectStore

    func measure(_ database: BenchDatabase) async throws -> Measurement {
        try await TemporaryFolder.with { folder in
            var result = Measurement(
                MeasurementName.objectStore.rawValue,
                conditions: """
                    both sides in turns, \(sizes.processCount) processes each; cold: the first time in a new process \
                    that has just opened the file, which the system has in memory; warm: \(sizes.warmCount) times after
                    """)
            let files = try ObjectStoreFiles(folder, sizes)
            for step in sizes.steps {
                switch step {
                case .memory: result.figures += try await memory(files)
                case .allocations: result.figures += try await allocations(files)
                case .notifications: result.figures += try await notifications(files)
                default: result.figures += try await compare(step, files)
                }
            }
            return result
        }
    }

    // MARK: Times

    private func compare(_ step: ObjectStoreStep, _ files: ObjectStoreFiles) async throws -> [Figure] {
        var tombolo: [ObjectStoreTimes] = []
        var raw: [ObjectStoreTimes] = []
        for _ in 0..<sizes.processCount {
            raw.append(try await times(step, .raw, files))
            tombolo.append(try await times(step, .tombolo, files))
            guard zip(raw, tombolo).allSatisfy({ $0.checks == $1.checks }) else {
                throw BenchError(
                    "'\(step.rawValue)' gave different results on the two sides: \(raw.map(\.checks)) and "
                        + "\(tombolo.map(\.checks)).")
            }
        }
        let title = step.title(sizes)
        var figures = [
            Figure("\(title): Tombolo, cold", "ms", runs: tombolo.map(\.cold.milliseconds)),
            Figure("\(title): raw, cold", "ms", runs: raw.map(\.cold.milliseconds)),
            Figure("\(title): Tombolo, warm", "ms", runs: tombolo.map(\.warmMilliseconds)),
            Figure("\(title): raw, warm", "ms", runs: raw.map(\.warmMilliseconds)),
            Figure("\(title): ratio, cold", "×", runs: ratios(tombolo, raw, \.cold.milliseconds)),
            Figure("\(title): ratio, warm", "×", runs: ratios(tombolo, raw, \.warmMilliseconds)),
            Figure("\(title): ratio of CPU time, warm", "×", runs: ratios(tombolo, raw, \.warmCPUMilliseconds)),
        ]
        if step == .open {
            figures[0].allowed = ObjectStoreStep.allowedOpenMilliseconds
            figures[2].allowed = ObjectStoreStep.allowedOpenMilliseconds
        }
        for index in 4...5 { figures[index].allowed = step.allowedRatio }
        return figures
    }

    /// The ratio for each pair of processes that ran one after the other.
    private func ratios(
        _ tombolo: [ObjectStoreTimes], _ raw: [ObjectStoreTimes], _ time: (ObjectStoreTimes) -> Double
    ) -> [Double] {
        zip(tombolo, raw).map { time($0) / time($1) }
    }

    private func times(
        _ step: ObjectStoreStep, _ side: ObjectStoreSide, _ files: ObjectStoreFiles
    ) async throws -> ObjectStoreTimes {
        let path = try files.copy(step.content, side, isSynced: step == .insertSynced)
        defer { files.delete(path) }
        let count = step == .transactions ? sizes.transactionCount : sizes.lookUpCount
        let process = try BenchProcess(
            arguments("object-store-step", side, path, sizes.objectCount)
                + ["--step", step.rawValue, "--count", "\(count)", "--warm", "\(sizes.warmCount)"])
        defer { process.end() }
        return try JSONDecoder().decode(ObjectStoreTimes.self, from: Data(try await process.expect("times").utf8))
    }

    private func arguments(
        _ command: String, _ side: ObjectStoreSide, _ path: String, _ objects: Int
    ) -> [String] {
        [command, "--side", side.rawValue, "--file", path, "--objects", "\(objects)"]
    }

    // MARK: Memory

    private func memory(_ files: ObjectStoreFiles) async throws -> [Figure] {
        let title = ObjectStoreStep.memory.title(sizes)
        var figures: [Figure] = []
        for side in ObjectStoreSide.allCases {
            var idle: [Double] = []
            var above: [Double] = []
            for _ in 0..<sizes.processCount {
                let path = try files.copy(.manyPeople, side, isSynced: false)
                defer { files.delete(path) }
                let process = try BenchProcess(arguments("object-store-memory", side, path, sizes.largeObjectCount))
                defer { process.end() }
                let words = try await process.expect("memory").split(separator: " ").compactMap { Double($0) }
                guard words.count == 2 else { return [] }
                idle.append(words[0] / 1e6)
                above.append((words[1] - words[0]) / 1e6)
            }
            let name = side == .tombolo ? "Tombolo" : "raw"
            figures.append(Figure("\(title): \(name), before", "MB", runs: idle))
            var greatest = Figure("\(title): \(name), at most above that", "MB", runs: above)
            if side == .tombolo { greatest.allowed = ObjectStoreStep.allowedMemoryMegabytes }
            figures.append(greatest)
        }
        return figures
    }

    // MARK: Allocations

    private func allocations(_ files: ObjectStoreFiles) async throws -> [Figure] {
        var figures: [Figure] = []
        for side in ObjectStoreSide.allCases {
            let path = try files.copy(.people, side, isSynced: false)
            defer { files.delete(path) }
            let process = try BenchProcess(arguments("object-store-allocations", side, path, sizes.objectCount))
            defer { process.end() }
            let text = try await process.expect("allocations")
            let counts = try JSONDecoder().decode([String: Double].self, from: Data(text.utf8))
            let name = side == .tombolo ? "Tombolo" : "raw"
            for (what, count) in counts.sorted(by: { $0.key < $1.key }) {
                figures.append(Figure("allocations by \(what): \(name)", "", count))
            }
        }
        return figures
    }

    // MARK: Notifications

    private func notifications(_ files: ObjectStoreFiles) async throws -> [Figure] {
        let title = ObjectStoreStep.notifications.title(sizes)
        var first: [Double] = []
        var samples: [String: [Double]] = [:]
        for _ in 0..<sizes.processCount {
            let path = try files.copy(.people, .tombolo, isSynced: false)
            defer { files.delete(path) }
            let process = try BenchProcess([
                "object-store-observer", "--file", path, "--objects", "\(sizes.objectCount)", "--rounds",
                "\(sizes.notificationCount)",
            ])
            defer { process.end() }
            let text = try await process.expect("times")
            let times = try JSONDecoder().decode(NotificationTimes.self, from: Data(text.utf8))
            first.append(times.first)
            samples.merge(times.samples, uniquingKeysWith: +)
        }
        var figures = [Figure("\(title): first call", "ms", runs: first)]
        for (name, samples) in samples.sorted(by: { $0.key < $1.key }) {
            var figure = Figure("\(title): call after \(name)", "ms", samples: samples)
            if name.hasPrefix("one ") { figure.allowed = ObjectStoreStep.allowedNotificationMilliseconds }
            figures.append(figure)
            figures.append(Figure("\(title): call after \(name), 95 % within", "ms", samples.quantile(0.95)))
        }
        return figures
    }
}

extension ObjectStoreTimes {
    fileprivate var checks: [Int] { [cold.check] + warm.map(\.check) }
    fileprivate var warmMilliseconds: Double { warm.map(\.milliseconds).median }
    fileprivate var warmCPUMilliseconds: Double { warm.map(\.cpuMilliseconds).median }
}
