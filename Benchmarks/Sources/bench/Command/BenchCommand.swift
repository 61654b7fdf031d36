import ArgumentParser

/// `bench`: measures Tombolo against the raw limits of the machine that it runs on.
@main
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures Tombolo beside the raw limits of this machine.",
        discussion: """
            It needs an empty PostgreSQL database that it owns, in TOMBOLO_DATABASE_URL; 'make bench' starts a throwaway \
            one. The gateway and the devices run in separate processes. CPU time and memory of processes are \
            read from /proc and reported on Linux only.
            """,
        subcommands: [
            RunCommand.self, GatewayCommand.self, TicketCommand.self, AdminCommand.self, FirstSyncDeviceCommand.self,
            QueueChangesCommand.self,
            UploadDevicesCommand.self, LatencyDevicesCommand.self, ObjectStoreStepCommand.self,
            ObjectStoreMemoryCommand.self, ObjectStoreAllocationsCommand.self,
            ObjectStoreObserverCommand.self, ObjectStoreWriterCommand.self,
            LightDevicesCommand.self, BareServerCommand.self, HostileDevicesCommand.self,
        ],
        defaultSubcommand: RunCommand.self)
}
