import DeviceStoreConformance
import ServerStoreConformance
import Testing

@Suite struct ConformanceTests {
    @Test(arguments: DeviceStoreCheck.allCases)
    func theSimulatedDeviceStoreKeepsItsPromises(check: DeviceStoreCheck) throws {
        try check.run(SimulatedDeviceHarness.self)
    }

    @Test(arguments: ServerStoreCheck.allCases)
    func theSimulatedServerStoreKeepsItsPromises(check: ServerStoreCheck) async throws {
        try await check.run(SimulatedServerHarness.self)
    }
}
