import DeviceStoreConformance
import Testing

@Suite("SQLite device store")
struct SQLiteDeviceStoreTests {
    @Test("The SQLite store passes the device store conformance checks", arguments: DeviceStoreCheck.allCases)
    func conforms(_ check: DeviceStoreCheck) throws { try check.run(SQLiteHarness.self) }
}
