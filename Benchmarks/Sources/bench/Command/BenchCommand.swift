import ArgumentParser

/// `bench`: measures Tombolo against the raw limits of the machine that it runs on.
@main
struct BenchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures Tombolo beside the raw limits of this machine.",
        discussion: """
            It needs an empty PostgreSQL database in TOMBOLO_DATABASE_URL, of which it is the owner; 'make bench' starts \
            a throw-away one. Gateway and devices run in processes of their own. CPU time and memory of processes are \
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
