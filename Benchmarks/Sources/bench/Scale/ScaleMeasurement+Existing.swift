/// The rows that are parts of other measurements.
extension ScaleMeasurement {
    /// 200 commits per second to each of 100 devices with files.
    func withFiles(_ results: inout ScaleResults, _ database: BenchDatabase) async {
        let name = "200 commits/s to all of \(scale.fileCount) devices with files: p99"
        await attempt(.files, name, &results) { results in
            var latency = sizes.latency
            latency.deviceCount = scale.fileCount
            latency.commitsPerSecond = 200
            latency.seconds = scale.seconds
            latency.parts = [.all]
            let figures = try await LatencyMeasurement(sizes: latency).measure(database).figures
            let missing = try Self.figure("\(LatencyMeasurement.Part.all.rawValue): never arrived", of: figures)
            guard missing.median == 0 else { throw BenchError("\(Int(missing.median)) values never arrived.") }
            let p99 = try Self.figure("\(LatencyMeasurement.Part.all.rawValue): p99", of: figures)
            results.add(name, "ms", p99.median, allowed: 50)
        }
    }

    func upload(_ results: inout ScaleResults, _ database: BenchDatabase) async {
        await attempt(.upload, "uploads", &results) { results in
            var upload = sizes.upload
            upload.runCount = scale.runCount
            let figures = try await UploadMeasurement(sizes: upload).measure(database).figures
            for shape in upload.shapes {
                let uploaded = try Self.figure(
                    UploadMeasurement.name(shape.changesetCount, shape.objectCount) + ": uploaded", of: figures)
                for run in uploaded.runs {
                    results.add(
                        "uploads from \(upload.deviceCount) devices, changesets of \(shape.objectCount)", "changes/s",
                        run, required: shape.objectCount == 1 ? 12_000 : 60_000)
                }
            }
        }
    }

    func firstSync(_ results: inout ScaleResults, _ database: BenchDatabase) async {
        await attempt(.firstSync, "first sync", &results) { results in
            var firstSync = sizes.firstSync
            firstSync.runCount = scale.runCount
            let figures = try await FirstSyncMeasurement(sizes: firstSync).measure(database).figures
            let synced = try Self.figure(FirstSyncMeasurement.synced, of: figures)
            let raw = try Self.figure(FirstSyncMeasurement.rawInTurn, of: figures)
            for (synced, raw) in zip(synced.runs, raw.runs) {
                results.add(
                    "first sync of \(firstSync.rowCount) rows: time, as a multiple of COPY and then inserts", "×",
                    raw / synced, allowed: 1)
            }
        }
    }

    /// Lists and moves on 32 connections.
    func tickets(_ results: inout ScaleResults, _ database: BenchDatabase) async {
        await attempt(.tickets, "tickets", &results) { results in
            var tickets = sizes.tickets
            tickets.runCount = scale.runCount
            let figures = try await TicketsMeasurement(sizes: tickets).measure(database).figures
            for request in TicketsMeasurement.Request.allCases {
                guard let wanted = request.wanted else { continue }
                for run in try Self.figure(request.rate, of: figures).runs {
                    results.add("ticket API, \(request.rate)", "1/s", run, required: wanted.rate)
                }
                let p99 = try Self.figure(request.p99, of: figures)
                results.add("ticket API, \(request.p99)", "ms", p99.median, allowed: wanted.p99)
            }
        }
    }

    func changelog(_ results: inout ScaleResults, _ database: BenchDatabase) async {
        await attempt(.changelog, "changelog", &results) { results in
            let figures = try await ChangelogMeasurement(sizes: sizes.changelog).measure(database).figures
            for kind in ChangelogMeasurement.Kind.allCases {
                guard let allowed = ChangelogMeasurement.allowed[kind] else { continue }
                let name = ChangelogMeasurement.price(kind)
                for run in try Self.figure(name, of: figures).runs {
                    results.add("changelog: \(name)", "×", run, allowed: allowed)
                }
            }
        }
    }

    private static func figure(_ name: String, of figures: [Figure]) throws -> Figure {
        guard let figure = figures.first(where: { $0.name == name }) else {
            throw BenchError("There is no figure '\(name)'.")
        }
        return figure
    }
}
