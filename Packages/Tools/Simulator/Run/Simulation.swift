internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSyncProtocol
internal import TomboloSyncSession

/// One seed's simulation: devices, gateways, a sequencer, plain-SQL writers and the simulated database under one
/// scheduler with virtual time. Everything runs in one task, and a seed does the same on every machine.
public final class Simulation {
    enum Event {
        case operation
        // Devices
        case start(SimulatedDevice, life: Int)
        case connect(SimulatedDevice, life: Int)
        case retry(SimulatedDevice, life: Int)
        case store(SimulatedDevice, life: Int, ClientSession.Action)
        case deliverDown(SimulatedConnection)
        case lost(SimulatedDevice, life: Int, SimulatedConnection)
        // Gateways
        case deliverUp(SimulatedConnection)
        case authenticate(SimulatedConnection)
        case open(SimulatedConnection, ClientID, acknowledged: Int64, Position)
        case read(SimulatedConnection, ReadRequest)
        case emit(SimulatedConnection)
        case serve(SimulatedGateway, life: Int)
        case tell(SimulatedGateway, life: Int)
        case writable(SimulatedConnection)
        case feed(SimulatedGateway, life: Int)
        case upload(SimulatedGateway, life: Int)
        case answer(SimulatedConnection, [UploadResult])
        case heartbeat(SimulatedGateway, life: Int)
        case bootGateway(SimulatedGateway)
        case authority(user: Int)
        // Database
        case uploadStep(RunningUpload)
        case sqlStep(SQLProcedure, then: [[SQLProcedure.Statement]])
        case poll(life: Int)
        case commitTick(Snapshot, Stamp, life: Int)
        case notify(life: Int)
        case flush
        case bootDatabase
        case bootSequencer
        case checkQuiet
    }

    /// An upload transaction with the connections that wait for it.
    final class RunningUpload {
        let procedure: UploadProcedure
        let parts: [(connection: SimulatedConnection, count: Int)]
        let databaseLife: Int
        var isAnswered = false

        init(_ procedure: UploadProcedure, _ parts: [(connection: SimulatedConnection, count: Int)], _ life: Int) {
            self.procedure = procedure
            self.parts = parts
            databaseLife = life
        }
    }

    /// The number of operations per seed.
    public static let operationCount = 120
    /// The virtual milliseconds after the last fault within which all stores must become equal.
    static let livenessBound = 240_000
    /// The maximum number of events per seed.
    static let maximumEvents = 60_000
    /// How long a frozen sequencer waits before it checks whether it was replaced.
    static let frozenInterval = 40
    static let epochMicroseconds: Int64 = 1_700_000_000_000_000
    static let dayMicroseconds: Int64 = 86_400_000_000

    let seed: UInt64
    let mutant: Mutant?
    let trace: ((String) -> Void)?
    let schema = SimulatedSchema.schema
    var random: SimulatorRandom
    var queue = EventQueue<Event>()
    var now = 0
    var coverage = Coverage()
    var failure: String?
    let clock: VirtualClock
    let database: SimulatedDatabase
    let gate = SimulatedGate()
    let oracle: Oracle
    let ledger: Ledger
    var isDatabaseUp = true
    var databaseLife = 0
    var isSequencerUp = true
    var sequencerLife = 0
    var isPolling = false
    var devices: [SimulatedDevice] = []
    var gateways: [SimulatedGateway] = []
    var runningUploads: [RunningUpload] = []
    var runningSQL: [SQLProcedure] = []
    /// How often each user's roles changed; an odd number means restricted.
    var roles = [0, 0, 1, 0]
    var operationsLeft = Simulation.operationCount
    var isHealed = false
    var healedAt = 0
    var isQuiet = false
    var nextConnection = 1
    var batches = 0
    var hasCopied = false
    var contents: [Int64: (token: Int64, rows: [ObjectReference: Row])] = [:]

    /// The clock shared by server and scheduler.
    final class VirtualClock {
        var milliseconds = 0
    }

    init(seed: UInt64, mutant: Mutant?, trace: ((String) -> Void)?) {
        self.seed = seed
        self.mutant = mutant
        self.trace = trace
        random = SimulatorRandom(seed: seed)
        let clock = VirtualClock()
        self.clock = clock
        database = SimulatedDatabase(schema: schema) {
            Simulation.epochMicroseconds + Int64(clock.milliseconds) * 1000
        }
        let relay = CoverageRelay()
        oracle = Oracle(database: database) { relay.hit?($0) }
        ledger = Ledger(schema: schema)
        relay.hit = { [unowned self] in self.coverage.hit($0) }
        database.reusedXid = { [unowned self] in self.coverage.hit(.numberReused) }
    }

    private final class CoverageRelay {
        var hit: ((CoveragePoint) -> Void)?
    }

    /// The number of events after which other tasks may run.
    static let yieldInterval = 64

    /// Runs one seed. `trace` receives a line for each event.
    /// - Throws: ``SimulationFailure``.
    public static func run(
        seed: UInt64, mutant: Mutant? = nil, trace: ((String) -> Void)? = nil
    ) async throws -> SimulationReport {
        try await Simulation(seed: seed, mutant: mutant, trace: trace).run()
    }

    private func run() async throws -> SimulationReport {
        setUp()
        var events = 0
        while !isQuiet, failure == nil {
            guard let (time, event) = queue.next() else {
                fail("no events are left")
                break
            }
            events += 1
            guard events < Self.maximumEvents else {
                fail("the simulation didn't come to rest after \(events) events")
                break
            }
            now = time
            clock.milliseconds = time
            await perform(event)
            // Nothing above suspends, so other tasks would not get the thread before the end.
            if events.isMultiple(of: Self.yieldInterval) { await Task.yield() }
        }
        if failure == nil { checkEnd() }
        if let failure { throw SimulationFailure(seed: seed, message: "at \(now) ms: \(failure)") }
        return SimulationReport(
            seed: seed, operations: Self.operationCount, batches: batches, ticks: database.ticks.count,
            coverage: coverage, duration: now)
    }

    func log(_ text: @autoclosure () -> String) {
        guard let trace else { return }
        trace("\(now) ms  \(text())")
    }

    func fail(_ message: String) {
        guard failure == nil else { return }
        failure = message
        log("FAILED: \(message)")
    }

    func hit(_ point: CoveragePoint) { coverage.hit(point) }

    func schedule(_ event: Event, in milliseconds: Int) { queue.schedule(event, at: now + milliseconds) }

    func soon() -> Int { 1 + random.below(4) }

    private func setUp() {
        let transaction = database.begin()
        for key in 0..<Workload.vaultCount {
            _ = try? database.lock(.row(SimulatedSchema.vault(key)), transaction)
            _ = try? database.write(
                SimulatedSchema.vault(key), Row([.int(Int64(key)), .int(Workload.vaultStart), .int(0)]), transaction)
        }
        database.commit(transaction, synchronous: true)
        oracle.record(transaction)
        for id in 0..<2 {
            let gateway = SimulatedGateway(id: id)
            gateways.append(gateway)
            schedule(.heartbeat(gateway, life: 0), in: 300 + id * 50)
        }
        for id in 0..<3 {
            let store = SimulatedDeviceStore(
                client: ClientID(rawValue: Int64(1 + random.below(1_000_000))))
            store.mutant = mutant
            let device = SimulatedDevice(id: id, user: id, store: store)
            devices.append(device)
            device.skew = skew()
            changeSubscriptions(device)
            schedule(.start(device, life: 0), in: 5 + random.below(100))
        }
        schedule(.poll(life: 0), in: 1)
        schedule(.flush, in: 100)
        schedule(.operation, in: 20)
    }

    func skew() -> Int64 {
        switch random.below(5) {
        case 0: Self.dayMicroseconds
        case 1: -Self.dayMicroseconds
        case 2: Int64(random.below(2_000_000)) - 1_000_000
        default: 0
        }
    }

    private func perform(_ event: Event) async {
        switch event {
        case .operation: operate()
        case .start(let device, let life):
            guard device.life == life else { return }
            device.isUp = true
            act(device, .start)
        case .connect(let device, let life):
            guard device.life == life else { return }
            connect(device)
        case .retry(let device, let life):
            guard device.life == life else { return }
            act(device, .retry)
        case .store(let device, let life, let action):
            guard device.life == life else { return }
            performStore(action, device)
        case .deliverDown(let connection): deliverDown(connection)
        case .lost(let device, let life, let connection):
            guard device.life == life, device.connection === connection else { return }
            device.connection = nil
            act(device, .disconnected(random: random.fraction()))
        case .deliverUp(let connection): deliverUp(connection)
        case .authenticate(let connection):
            handle(connection, .authenticated(authority(connection.device.user)))
        case .open(let connection, let client, let acknowledged, let position):
            open(connection, client, acknowledged, position)
        case .read(let connection, let request): await read(connection, request)
        case .emit(let connection): emit(connection)
        case .serve(let gateway, let life):
            guard gateway.life == life, gateway.isUp else { return }
            serve(gateway)
        case .tell(let gateway, let life):
            guard gateway.life == life, gateway.isUp else { return }
            tell(gateway)
        case .writable(let connection):
            connection.isWritable = true
            handle(connection, .writable(true))
        case .feed(let gateway, let life):
            guard gateway.life == life, gateway.isUp else { return }
            await feed(gateway)
        case .upload(let gateway, let life):
            guard gateway.life == life, gateway.isUp else { return }
            upload(gateway)
        case .answer(let connection, let results): answer(connection, results)
        case .heartbeat(let gateway, let life):
            guard gateway.life == life, gateway.isUp else { return }
            for connection in gateway.connections { handle(connection, .heartbeat) }
            // A notification may be lost in a crash of the sequencer or the database, so gateways poll too.
            schedule(.feed(gateway, life: life), in: soon())
            schedule(.heartbeat(gateway, life: life), in: 300)
        case .bootGateway(let gateway): boot(gateway)
        case .authority(let user):
            for gateway in gateways where gateway.isUp {
                for connection in gateway.connections where connection.device.user == user {
                    handle(connection, .authorityChanged(authority(user)))
                }
            }
        case .uploadStep(let upload): step(upload)
        case .sqlStep(let procedure, let then): step(procedure, then)
        case .poll(let life): poll(life)
        case .commitTick(let snapshot, let time, let life): commitTick(snapshot, time, life)
        case .notify(let life): notify(life)
        case .flush:
            if isDatabaseUp { database.flush() }
            nudge()
            schedule(.flush, in: 150 + random.below(200))
        case .bootDatabase: bootDatabase()
        case .bootSequencer:
            guard !isSequencerUp else { return }
            isSequencerUp = true
            database.sequencerEpoch = sequencerLife
            schedule(.poll(life: sequencerLife), in: 1)
        case .checkQuiet: checkQuiet()
        }
    }
}
