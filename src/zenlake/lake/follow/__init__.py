"""Follow: reads a recording into a lake while the recording grows.

The input is the folder of a recording, the output a new version of the lake every few seconds, all
tables at once. Each version has the rows that `pipeline` would make of the recording at that
moment; `docs/live.md` lists the exceptions.

    growing_reader     reads further in the recording and writes new rows to files
    reader_process     the process that runs the reader, one for each recording
    reader_client      the driver's interface to that process
    state              the state between two versions: events, counts, names of files
    derive_batch       the tasks of Spark: derived tables, publications, joined files
    derivation         the driver's interface to these tasks
    followed_capture   a recording in a lake: its state, and the publication of batches
    all_samples        compares all samples at the end
    old_files          deletes files that newer versions have replaced
    recordings         facts about a recording before it is read
    defaults           periods that help texts show
    settling           removes events whose rows are final
    follower           one recording: read, derive, publish
    following          the loop over several recordings, until a stop or their ends
"""
