import DeviceStoreConformance
import ServerStoreConformance
import Synchronization
import TomboloChangesets
import TomboloModel
import TomboloSimulator

/// Runs the suite that the SQLite store passes on the simulated device store.
final class SimulatedDeviceHarness: DeviceStoreHarness {
    let store: SimulatedDeviceStore

    init(schema: Schema, client: ClientID) { store = SimulatedDeviceStore(schema: schema, client: client) }

    func write(_ instructions: [Instruction], wallMicroseconds: Int64) {
        store.write(instructions, wallMicroseconds: wallMicroseconds)
    }

    func rows(ofClass classIndex: Int) -> [Row] {
        store.rows.filter { $0.key.classIndex == classIndex }.map(\.value)
    }

    /// Does nothing, since everything in the store is durable.
    func restart() {}
}

/// Runs the suite that the PostgreSQL store passes on the simulated server store.
struct SimulatedServerHarness: ServerStoreHarness {
    let store: SimulatedServerStore

    static func make(schema: Schema) -> SimulatedServerHarness {
        let clock = SteppingClock()
        return SimulatedServerHarness(store: SimulatedServerStore(schema: schema) { clock.next() })
    }

    func write(_ rows: [(ObjectReference, Row?)]) throws { try store.write(rows) }

    func dropChangelog(below tick: Int64) { store.dropTicks(below: tick) }

    func finish() {}

    /// A clock that advances by a millisecond with each reading.
    private final class SteppingClock: Sendable {
        private let microseconds = Mutex<Int64>(1_700_000_000_000_000)

        func next() -> Int64 {
            microseconds.withLock {
                $0 += 1000
                return $0
            }
        }
    }
}
