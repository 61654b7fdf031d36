import DeviceStoreConformance
import Testing

@Suite("SQLite device store")
struct SQLiteDeviceStoreTests {
    @Test("It keeps the promises of a device store", arguments: DeviceStoreCheck.allCases)
    func conforms(_ check: DeviceStoreCheck) throws { try check.run(SQLiteHarness.self) }
}
