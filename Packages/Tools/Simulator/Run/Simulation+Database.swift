internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncSession

/// Transactions, the sequencer, and the database's crashes.
extension Simulation {
    func step(_ running: RunningUpload) {
        let procedure = running.procedure
        guard running.databaseLife == databaseLife, !procedure.isDone else {
            runningUploads.removeAll { $0 === running }
            return
        }
        do {
            if try !procedure.step() {
                if procedure.waits == 1 { hit(.uploadWaited) }
                return schedule(.uploadStep(running), in: 2 + random.below(3))
            }
        } catch {
            hit(.deadlock)
            return schedule(.uploadStep(running), in: 2 + random.below(6))
        }
        guard procedure.isDone else {
            if mutant == .acknowledgeBeforeCommit, procedure.isReadyToCommit {
                answer(running)
                return schedule(.uploadStep(running), in: 20 + random.below(60))
            }
            return schedule(.uploadStep(running), in: random.below(3))
        }
        runningUploads.removeAll { $0 === running }
        log("upload committed: \(procedure.uploads.map(\.changeset.number)) \(procedure.results)")
        nudge()
        if !isHealed, random.chance(percent: 3), let gateway = running.parts.first?.connection.gateway, gateway.isUp {
            hit(.crashCommitted)
            return crash(gateway)
        }
        answer(running)
    }

    private func answer(_ running: RunningUpload) {
        guard !running.isAnswered else { return }
        running.isAnswered = true
        var index = 0
        for part in running.parts {
            let results = Array(running.procedure.results[index..<(index + part.count)])
            schedule(.answer(part.connection, results), in: soon())
            index += part.count
        }
    }

    func judge(_ procedure: UploadProcedure) {
        if let problem = oracle.judge(procedure) { fail(problem) }
        for item in procedure.judged {
            let isRefused = item.refused.applied(of: item.upload.changeset, in: database.schema).instructions.isEmpty
            if let problem = ledger.commit(item.upload, isRefused: isRefused) { fail(problem) }
        }
    }

    func step(_ procedure: SQLProcedure, _ then: [[SQLProcedure.Statement]]) {
        guard !procedure.isDone else {
            runningSQL.removeAll { $0 === procedure }
            return
        }
        do {
            switch try procedure.step() {
            case .moved: schedule(.sqlStep(procedure, then: then), in: random.below(4))
            case .waits: schedule(.sqlStep(procedure, then: then), in: 2 + random.below(3))
            case .pauses(let milliseconds): schedule(.sqlStep(procedure, then: then), in: milliseconds)
            case .ready:
                oracle.record(procedure.transaction)
                procedure.commit()
                runningSQL.removeAll { $0 === procedure }
                log(
                    "plain SQL committed\(procedure.isSynchronous ? "" : ", not flushed"): xid "
                        + "\(procedure.transaction.xid ?? 0) "
                        + procedure.transaction.log.map { "\($0.operation) \($0.reference)" }.joined(separator: ", "))
                nudge()
                if let next = then.first { startSQL(next, then: Array(then.dropFirst())) }
            }
        } catch {
            runningSQL.removeAll { $0 === procedure }
        }
    }

    func startSQL(_ statements: [SQLProcedure.Statement], then: [[SQLProcedure.Statement]] = []) {
        guard isDatabaseUp else { return }
        let procedure = SQLProcedure(
            database: database, statements: statements, isSynchronous: random.chance(percent: 30))
        runningSQL.append(procedure)
        schedule(.sqlStep(procedure, then: then), in: random.below(3))
    }

    // MARK: The sequencer

    /// Wakes the sequencer early after a commit; otherwise it polls.
    func nudge() {
        guard isSequencerUp, !isPolling else { return }
        isPolling = true
        schedule(.poll(life: sequencerLife), in: 1 + random.below(12))
    }

    func poll(_ life: Int) {
        guard life == sequencerLife, isSequencerUp else { return }
        isPolling = false
        guard isDatabaseUp, database.hasNews else { return }
        isPolling = true
        schedule(
            .commitTick(database.snapshot, Stamp(microseconds: database.now()), life: life), in: random.below(4))
    }

    func commitTick(_ snapshot: Snapshot, _ time: Stamp, _ life: Int) {
        guard life == sequencerLife else { return commitLateTick(snapshot, time, life) }
        isPolling = false
        guard isDatabaseUp,
            let tick = database.commitTick(
                snapshot: snapshot, token: Int64(random.below(1_000_000_000)), time: time, epoch: life,
                synchronous: mutant != .tickNotDurable)
        else { return }
        log("tick \(tick.number) at \(snapshot)")
        if !isHealed, random.chance(percent: 3) {
            hit(.crashTick)
            crashSequencer()
            return
        }
        schedule(.notify(life: life), in: soon())
        nudge()
    }

    /// A process that was about to commit a tick wasn't dead but frozen, and continues after a successor was elected.
    ///
    /// PostgreSQL would also refuse most such ticks for their number. Here the database numbers them, so that only
    /// the fence can refuse.
    private func commitLateTick(_ snapshot: Snapshot, _ time: Stamp, _ life: Int) {
        guard isSequencerUp, isDatabaseUp, database.sequencerEpoch > life else {
            return schedule(.commitTick(snapshot, time, life: life), in: Self.frozenInterval)
        }
        hit(.lateTick)
        let tick = database.commitTick(
            snapshot: snapshot, token: Int64(snapshot.xmax), time: time,
            epoch: mutant == .lateTickAccepted ? nil : life, synchronous: true)
        log("the late tick of a replaced sequencer is \(tick == nil ? "refused" : "committed")")
        guard tick != nil else { return }
        for gateway in gateways where gateway.isUp { schedule(.feed(gateway, life: gateway.life), in: 1) }
    }

    func notify(_ life: Int) {
        guard life == sequencerLife else { return }
        for gateway in gateways where gateway.isUp {
            schedule(.feed(gateway, life: gateway.life), in: random.below(10))
        }
    }

    func crashSequencer() {
        hit(.sequencerCrash)
        log("the sequencer crashes")
        // Or the process is frozen just before committing a tick.
        if isDatabaseUp {
            let time = Stamp(microseconds: database.now())
            schedule(.commitTick(database.snapshot, time, life: sequencerLife), in: Self.frozenInterval)
        }
        isSequencerUp = false
        isPolling = false
        sequencerLife += 1
        schedule(.bootSequencer, in: 5 + random.below(300))
    }

    // MARK: Crashes

    func crashDatabase() {
        hit(.databaseCrash)
        if runningUploads.contains(where: { $0.procedure.isReadyToCommit }) { hit(.crashWritten) }
        isDatabaseUp = false
        databaseLife += 1
        isPolling = false
        let uploads = runningUploads
        runningUploads = []
        for running in uploads { running.procedure.abort() }
        for procedure in runningSQL { procedure.abort() }
        runningSQL = []
        let lost = database.crash()
        log("the database crashes and loses \(lost.sorted())")
        if !lost.isEmpty { hit(.unflushedLost) }
        oracle.forget(lost)
        for running in uploads {
            for part in running.parts { unavailable(part.connection) }
        }
        schedule(.bootDatabase, in: 5 + random.below(100))
    }

    func bootDatabase() {
        guard !isDatabaseUp else { return }
        isDatabaseUp = true
        if isSequencerUp { schedule(.poll(life: sequencerLife), in: 5) }
    }
}
