/// The sizes and numbers of repetitions.
struct Sizes: Sendable {
    struct Drawing: Sendable {
        var strokeCount: Int
        var pointCount: Int
        /// Runs of long operations: inserting and reading everything.
        var runCount: Int
        /// Repetitions of short operations: appending a stroke, editing a point.
        var editCount: Int
    }

    struct FirstSync: Sendable {
        var rowCount: Int
        var runCount: Int
    }

    struct Upload: Sendable {
        var deviceCount: Int
        /// How the changes of one device are grouped: the number of changesets, and of created objects in each.
        var shapes: [(changesetCount: Int, objectCount: Int)]
        var rowsPerInsert: Int
        var runCount: Int
    }

    struct Latency: Sendable {
        var parts = LatencyMeasurement.Part.allCases
        var deviceCount: Int
        /// The number of listings that no device wants.
        var otherRowCount: Int
        var commitsPerSecond: Int
        var seconds: Int
        var idleIntervalSeconds: Double
    }

    struct SlowReader: Sendable {
        var rowCount: Int
        var changeCount: Int
        var rowsPerCommit: Int
        var seconds: Int
    }

    struct ObjectStore: Sendable {
        var steps = ObjectStoreStep.allCases
        var objectCount: Int
        var transactionCount: Int
        var lookUpCount: Int
        /// The number of objects in the large file, which is opened and iterated over.
        var largeObjectCount: Int
        /// The number of processes for each side and step.
        var processCount: Int
        /// Repetitions of a step within its process. The deletions remove a fifth each, five times.
        var warmCount: Int
        /// The number of changes of each kind in a process that observes.
        var notificationCount: Int
    }

    struct Logins: Sendable {
        var loginCount: Int
        var accountsPerConnection: Int
        /// The number of hashes, empty requests and exchanges of refresh tokens in each round.
        var roundCount: Int
        var hashCount: Int
        var healthCount: Int
        var refreshCount: Int
    }

    struct Tickets: Sendable {
        var eventCount: Int
        /// The number of tickets of each event.
        var ticketCount: Int
        var runCount: Int
        /// The duration of each kind of request in a run.
        var seconds: Double
        var warmUpSeconds: Double
    }

    struct Scale: Sendable {
        /// The valid range of ``deviceCount``.
        static let deviceCounts = 10...10_000

        var rows = ScaleRow.allCases
        var hostileKinds = HostileKind.allCases
        /// The most connected devices.
        var deviceCount: Int
        var runCount: Int
        var idleSeconds: Int
        /// The duration of each series of commits.
        var seconds: Int
        /// The number of hostile connections.
        var hostileCount: Int

        var tenthCount: Int { deviceCount / 10 }
        /// The smaller number of devices to compare with.
        var fewCount: Int { min(100, tenthCount) }
        var fileCount: Int { min(100, deviceCount) }
    }

    struct Changelog: Sendable {
        /// A multiple of `rowsPerStatement`.
        var rowCount: Int
        var rowsPerStatement: Int
        var singleCount: Int
        var runCount: Int
    }

    struct Admin: Sendable {
        /// The number of rows for many clients' lists.
        var rowCount: Int
        /// The number of rows of the list that one client pages through.
        var longRowCount: Int
        var runCount: Int
        /// The duration of each kind of request in a run.
        var seconds: Double
        var warmUpSeconds: Double
    }

    var drawing: Drawing
    var firstSync: FirstSync
    var upload: Upload
    var latency: Latency
    var slowReader: SlowReader
    var objectStore: ObjectStore
    var logins: Logins
    var tickets: Tickets
    var scale: Scale
    var changelog: Changelog
    var admin: Admin

    static let full = Sizes(
        drawing: Drawing(strokeCount: 1_000, pointCount: 200, runCount: 5, editCount: 200),
        firstSync: FirstSync(rowCount: 100_000, runCount: 5),
        upload: Upload(
            deviceCount: 10, shapes: [(changesetCount: 1_000, objectCount: 1), (changesetCount: 100, objectCount: 50)],
            rowsPerInsert: 1_000, runCount: 3),
        latency: Latency(
            deviceCount: 100, otherRowCount: 10_000, commitsPerSecond: 200, seconds: 60, idleIntervalSeconds: 2),
        slowReader: SlowReader(rowCount: 10_000, changeCount: 100_000, rowsPerCommit: 100, seconds: 60),
        objectStore: ObjectStore(
            objectCount: 100_000, transactionCount: 1_000, lookUpCount: 10_000, largeObjectCount: 1_000_000,
            processCount: 5, warmCount: 2, notificationCount: 20),
        logins: Logins(
            loginCount: 10_000, accountsPerConnection: 12, roundCount: 5, hashCount: 100, healthCount: 20_000,
            refreshCount: 2_000),
        tickets: Tickets(eventCount: 200, ticketCount: 20, runCount: 3, seconds: 5, warmUpSeconds: 2),
        scale: Scale(deviceCount: 10_000, runCount: 3, idleSeconds: 60, seconds: 10, hostileCount: 64),
        changelog: Changelog(rowCount: 20_000, rowsPerStatement: 1_000, singleCount: 3_000, runCount: 5),
        admin: Admin(rowCount: 100_000, longRowCount: 1_000_000, runCount: 3, seconds: 5, warmUpSeconds: 2))

    static let quick = Sizes(
        drawing: Drawing(strokeCount: 50, pointCount: 20, runCount: 2, editCount: 5),
        firstSync: FirstSync(rowCount: 2_000, runCount: 2),
        upload: Upload(
            deviceCount: 3, shapes: [(changesetCount: 20, objectCount: 1), (changesetCount: 3, objectCount: 20)],
            rowsPerInsert: 50, runCount: 1),
        latency: Latency(
            deviceCount: 10, otherRowCount: 100, commitsPerSecond: 50, seconds: 3, idleIntervalSeconds: 0.5),
        slowReader: SlowReader(rowCount: 500, changeCount: 2_000, rowsPerCommit: 100, seconds: 4),
        objectStore: ObjectStore(
            objectCount: 1_000, transactionCount: 10, lookUpCount: 100, largeObjectCount: 5_000, processCount: 1,
            warmCount: 1, notificationCount: 2),
        logins: Logins(
            loginCount: 200, accountsPerConnection: 2, roundCount: 2, hashCount: 5, healthCount: 200,
            refreshCount: 100),
        tickets: Tickets(eventCount: 5, ticketCount: 20, runCount: 1, seconds: 1, warmUpSeconds: 0.5),
        scale: Scale(deviceCount: 100, runCount: 1, idleSeconds: 2, seconds: 2, hostileCount: 8),
        changelog: Changelog(rowCount: 200, rowsPerStatement: 100, singleCount: 50, runCount: 2),
        admin: Admin(rowCount: 1_000, longRowCount: 2_000, runCount: 1, seconds: 1, warmUpSeconds: 0.5))
}
