import DeviceStoreConformance
import ServerStoreConformance
import Testing

@Suite struct ConformanceTests {
    @Test(
        "The simulated device store passes the device store conformance checks",
        arguments: DeviceStoreCheck.allCases)
    func deviceStore(check: DeviceStoreCheck) throws {
        try check.run(SimulatedDeviceHarness.self)
    }

    @Test(
        "The simulated server store passes the server store conformance checks",
        arguments: ServerStoreCheck.allCases)
    func serverStore(check: ServerStoreCheck) async throws {
        try await check.run(SimulatedServerHarness.self)
    }
}
